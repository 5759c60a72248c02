/** The imports of each file of the program, in every syntax, and the circular ones among them. */
import { dirname, join, normalize } from 'node:path';
import { codeIn, files } from './source.ts';

export interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
  /** Whether the imported file runs as a thread, which may import the types of its messages from the importing file. */
  readonly isThread: boolean;
}

const spellings: readonly RegExp[] = [
  /^(?:import|export)\s+(?<type>type\s+)?[^'"]*?from\s+['"](?<path>\.[^'"]+)['"]/gm,
  /^import\s+['"](?<path>\.[^'"]+)['"]/gm,
  /\bimport\(\s*['"](?<path>\.[^'"]+)['"]/gm,
  /\bnew URL\(\s*['"](?<thread>\.[^'"]+\.ts)['"]/gm,
];

export const importsOf = (file: string, code: string): Import[] =>
  spellings.flatMap(spelling =>
    [...code.matchAll(spelling)].map(({ groups: { type, path, thread } = {} }) => ({
      from: file,
      to: normalize(join(dirname(file), path ?? thread ?? '')),
      typeOnly: type !== undefined,
      isThread: thread !== undefined,
    })),
  );

export const imports: readonly Import[] = files.flatMap(file => importsOf(file, codeIn(file)));

/** The files that import one another in circles, one list for each circle. */
export function circlesOf(edges: readonly Import[]): string[][] {
  const targets = Map.groupBy(
    edges.filter(({ isThread }) => !isThread),
    ({ from }) => from,
  );
  const reached = new Map<string, Set<string>>();
  for (const start of targets.keys()) {
    const seen = new Set<string>();
    for (const open = [start]; open.length > 0; ) {
      for (const { to } of targets.get(open.pop() ?? '') ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        open.push(to);
      }
    }
    reached.set(start, seen);
  }
  const isMutual = (a: string, b: string) =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const circles = [...reached.keys()].map(a => [...reached.keys()].filter(b => isMutual(a, b)));
  return [
    ...new Map(circles.filter(circle => circle.length > 0).map(circle => [circle[0] ?? '', circle])).values(),
  ];
}
