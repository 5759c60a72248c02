/** The tree in ARCHITECTURE.md, as paths. */

/** What a line names: itself, and files and folders in what it says. Folders have a slash at their end. */
interface Named {
  readonly folder: string;
  readonly name: string;
  /** Whether it may be anywhere below the folder, as the line of a folder says what is deep in it. */
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
    // Lines further in go on with the text of the line before.
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

/** The paths among `all` that the tree names, and what it names that is not there, or there more than once. */
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
