/** The tree in ARCHITECTURE.md, as paths. */

/** A file or folder that a line of the tree names, as its entry or in its text. Folders have a trailing slash. */
interface Named {
  readonly folder: string;
  readonly name: string;
  /** Whether it may be at any depth below the folder, as in the text of a folder's line. */
  readonly isBelow: boolean;
}

const names = /(?<![\w./<>*-])[\w-]+(?:\/[\w-]+)*(?:\.ts|\/)(?![\w<*])/g;
const namesIn = (text: string) => [...text.matchAll(names)].map(([name]) => name);

function treeOf(document: string): Named[] {
  const tree = document.split('```\nsrc/\n')[1]?.split('```')[0] ?? '';
  const found: Named[] = [];
  const folders = ['', 'src/'];
  let about = { folder: 'src/', isBelow: false };
  for (const line of tree.split('\n')) {
    const depth = line.search(/\S/) / 2;
    const entry = /^ *([\w-]+(?:\/[\w-]+)*(?:\.ts|\/))(?= |$)/.exec(line)?.[1];
    // Lines indented further continue the text of the previous line.
    const isEntry = entry !== undefined && depth <= 2 && folders[depth] !== undefined;
    if (isEntry) {
      const folder = folders[depth] ?? '';
      found.push({ folder, name: entry, isBelow: false });
      const opens = entry.endsWith('/') && depth > 0;
      folders.length = depth + 1;
      if (opens) folders.push(`${folder}${entry}`);
      about = { folder: opens ? `${folder}${entry}` : folder, isBelow: opens };
    }
    const text = isEntry ? line.replace(entry, '') : line;
    found.push(...namesIn(text).map(name => ({ ...about, name })));
  }
  return found;
}

/** The paths among `all` that the tree names, and its names that match no path or several. */
export function compareTree(all: ReadonlySet<string>, document: string) {
  const shown = new Set<string>();
  const wrong: string[] = [];
  for (const { folder, name, isBelow } of treeOf(document)) {
    const path = `${folder}${name}`;
    const below = [...all].filter(other => other.startsWith(folder) && other.endsWith(`/${name}`));
    const meant = all.has(path) ? [path] : isBelow ? below : [];
    for (const other of meant) shown.add(other);
    if (meant.length !== 1) wrong.push(`${path}: ${meant.length === 0 ? 'is not there' : meant.join(', ')}`);
  }
  return { shown, wrong };
}
