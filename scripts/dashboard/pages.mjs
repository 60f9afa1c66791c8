// Every page of the dashboard.

/** Names and paths, for a daemon with data. */
export function pages({ source, change, destination, host }) {
  const [from, to] = [change.old_version, change.new_version];
  return [
    ["overview", "/"],
    ["budget", "/what-if"],
    ["sources", "/sources"],
    ["sources-add", "/sources/add"],
    ["source", `/sources/${source}`],
    ["diff-inline", `/sources/${source}/diff?from=${from}&to=${to}`],
    ["diff-side", `/sources/${source}/diff?from=${from}&to=${to}&view=side`],
    ["change-detection", `/sources/${source}/tune`],
    ["changes", "/changes"],
    ["signals", "/signals"],
    ["hosts", "/hosts"],
    ["host", `/hosts?name=${encodeURIComponent(host)}`],
    ["hosts-all", "/hosts?all=1"],
    ["settings", "/settings"],
    ["destination", `/settings/destinations/${destination}`],
    ["destination-new", "/settings/destinations/new"],
  ];
}
