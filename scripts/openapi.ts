/** `npm run openapi`: writes openapi.json; with --check, reports whether it is up to date with the code. */
import { join } from 'node:path';
import { createDocument } from '../src/service.ts';
import { readCheckOption } from './command-line.ts';

/** In characters: fits a schema with some members, or a response with its headers and media types. */
const maxLineLength = 2200;
const file = join(import.meta.dir, '..', 'openapi.json');
const text = `${written(await createDocument(), '')}\n`;

if (readCheckOption('openapi')) {
  const committed = await Bun.file(file)
    .text()
    .catch(() => '');
  const difference = firstDifference(committed.split('\n'), text.split('\n'));
  if (difference !== undefined) {
    console.error(`openapi.json is stale: ${difference}; run npm run openapi`);
    process.exit(1);
  }
} else {
  await Bun.write(file, text);
}

function firstDifference(committed: readonly string[], made: readonly string[]): string | undefined {
  if (committed.join('\n') === made.join('\n')) return undefined;
  const line = made.findIndex((wanted, index) => wanted !== committed[index]);
  const at = line === -1 ? made.length : line;
  const shown = (lines: readonly string[]) => lines[at]?.trim() ?? 'the end';
  return `line ${at + 1} has ${shown(committed)}, the code says ${shown(made)}`;
}

/**
 * JSON with one line for each value that fits: a diff shows a change where it was made, and the file is hardly larger
 * than what the service sends. With a line for each member, it would be at least half as large again.
 */
function written(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || line.length + indent.length <= maxLineLength)
    return line;
  const inner = `${indent} `;
  const members = Array.isArray(value)
    ? value.map(part => written(part, inner))
    : Object.entries(value)
        .filter(([, part]) => part !== undefined)
        .map(([name, part]) => `${JSON.stringify(name)}:${written(part, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${members.map(member => inner + member).join(',\n')}\n${indent}${close}`;
}
