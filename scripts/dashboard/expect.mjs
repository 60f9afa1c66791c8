// What must hold, and waiting until it does.

/** Something that does not hold. */
export class Failed extends Error {}

/** Fails with words unless something holds. */
export function expect(holds, words) {
  if (!holds) throw new Failed(words);
}

/** Fails unless two values are the same as JSON. */
export function same(found, wanted, words) {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  expect(one === other, `${words}: ${one} and not ${other}`);
}

/** Waits until something holds, and gives what it gave. */
export async function until(words, look, seconds = 60) {
  const end = Date.now() + 1000 * seconds;
  let last = null;
  while (Date.now() < end) {
    try {
      const found = await look();
      if (found) return found;
      last = null;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Failed(`never happened: ${words}${last ? ` (${last.message})` : ""}`);
}
