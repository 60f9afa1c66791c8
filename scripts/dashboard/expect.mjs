// Assertions, and waiting for conditions.

/** A failed assertion. */
export class Failed extends Error {}

/** Fails with a message unless a condition holds. */
export function expect(condition, message) {
  if (!condition) throw new Failed(message);
}

/** Fails unless two values are equal as JSON. */
export function same(actual, expected, message) {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  expect(one === other, `${message}: ${one}, expected ${other}`);
}

/** Waits until a function returns a truthy value, and returns that value. */
export async function until(message, check, seconds = 60) {
  const end = Date.now() + 1000 * seconds;
  let last = null;
  while (Date.now() < end) {
    try {
      const found = await check();
      if (found) return found;
      last = null;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Failed(`timed out waiting for: ${message}${last ? ` (${last.message})` : ""}`);
}
