/**
 * `npm run coverage`: writes docs/specification-coverage.md from specification-coverage.yaml beside it, which lists the
 * operations and tests for each line of the specification. With --check, it reports what is wrong: a stale page; an
 * operation missing in openapi.json; a test missing in its file; and, if the specification lies beside the repository,
 * lines without an entry and entries without a line.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { YAML } from 'bun';
import { z } from 'zod';
import { readCheckOption } from './command-line.ts';

const root = join(import.meta.dir, '..');
const source = 'docs/specification-coverage.yaml';
const page = 'docs/specification-coverage.md';
const specification = join(root, '..', 'shared', 'specification.md');

const entry = z.strictObject({
  line: z.string().min(1),
  endpoints: z.array(z.string()).min(1),
  tests: z.array(z.string()).min(1),
  note: z.string().optional(),
});
type Entry = z.output<typeof entry>;
/** Entries by heading, in the order of the specification. */
const coverageSchema = z.record(z.string(), z.array(entry).min(1));
type Coverage = z.output<typeof coverageSchema>;

const read = (path: string) => readFileSync(join(root, path), 'utf8');

const coverage = coverageSchema.parse(YAML.parse(read(source)));
const written = render(coverage);

if (readCheckOption('coverage')) {
  const problems = [
    ...(existsSync(join(root, page)) && read(page) === written
      ? []
      : [`${page} is stale; run npm run coverage`]),
    ...brokenReferences(coverage),
    ...(existsSync(specification) ? unmatched(coverage, readFileSync(specification, 'utf8')) : []),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  const entries = Object.values(coverage).flat();
  const against = existsSync(specification)
    ? 'every line of the specification has one'
    : 'no specification.md here';
  console.log(`${entries.length} entries hold; ${against}`);
} else {
  await Bun.write(join(root, page), written);
}

/** Operations missing in openapi.json, and tests missing in their files. */
function brokenReferences(entries: Coverage): string[] {
  const operations = operationsOf(read('openapi.json'));
  const texts = new Map<string, string | undefined>();
  const textOf = (file: string) => {
    if (!texts.has(file)) texts.set(file, existsSync(join(root, file)) ? read(file) : undefined);
    return texts.get(file);
  };
  return Object.entries(entries).flatMap(([heading, list]) =>
    list.flatMap(({ line, endpoints, tests }) => {
      const at = `${heading} › ${line}`;
      const unknown = endpoints.filter(name => name !== 'every operation' && !operations.has(name));
      return [
        ...unknown.map(name => `${at}: ${name} is not in openapi.json`),
        ...tests.flatMap(test => {
          const [file, name] = partsOf(test);
          const text = textOf(file);
          if (text === undefined) return [`${at}: there is no ${file}`];
          if (file.endsWith('.slow.test.ts')) return [`${at}: npm test does not run ${file}`];
          return hasTest(text, name) ? [] : [`${at}: ${file} has no test "${name}"`];
        }),
      ];
    }),
  );
}

function operationsOf(text: string): Set<string> {
  const paths = z
    .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(JSON.parse(text));
  return new Set(
    Object.entries(paths.paths).flatMap(([path, item]) =>
      // The OpenAPI document describes HEAD and OPTIONS once, for all paths.
      [...Object.keys(item), 'options', ...('get' in item ? ['head'] : [])].map(
        method => `${method.toUpperCase()} ${path}`,
      ),
    ),
  );
}

/** Splits `test/a.test.ts: its name` into the file and the name. */
function partsOf(test: string): [file: string, name: string] {
  const end = test.indexOf(': ');
  return [test.slice(0, end), test.slice(end + 2)];
}

/** Whether the file has a test with this name, as written: names of `test.each` include their placeholders. */
function hasTest(text: string, name: string): boolean {
  return ["'", '"', '`'].some(quote => {
    const literal = quote + name.replaceAll(quote, `\\${quote}`) + quote;
    return new RegExp(`\\(\\s*${literal.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*,`).test(text);
  });
}

/** Lines of the specification without an entry or with two, and entries that are not the beginning of a line. */
function unmatched(entries: Coverage, text: string): string[] {
  const lines = linesOf(text);
  const headings = new Set(lines.map(({ heading }) => heading));
  const problems = Object.keys(entries)
    .filter(heading => !headings.has(heading))
    .map(heading => `the specification has no heading "${heading}" with lines below it`);
  for (const heading of headings) {
    const below = lines.filter(line => line.heading === heading).map(({ line }) => line);
    const list = entries[heading] ?? [];
    for (const line of below) {
      const found = list.filter(each => line.startsWith(each.line));
      if (found.length !== 1) problems.push(`${heading} › ${line}: ${found.length} entries; must be one`);
      if (line.includes('not shown') && found.some(each => each.note === undefined))
        problems.push(`${heading} › ${line}: needs a note that says what was decided`);
    }
    for (const { line } of list) {
      const found = below.filter(each => each.startsWith(line));
      if (found.length !== 1)
        problems.push(`${heading} › ${line}: begins ${found.length} lines; must be one`);
    }
  }
  return problems;
}

interface Line {
  readonly heading: string;
  readonly line: string;
}

/** Statements, bullets, numbered items and table rows; not headings, table headers and one-word labels. */
function linesOf(text: string): Line[] {
  const isRule = (line: string | undefined) => /^\|[-| ]+\|$/.test(line ?? '');
  let heading = '';
  return text
    .split('\n')
    .map(line => line.trim())
    .flatMap((line, index, all) => {
      if (line.startsWith('#')) heading = line.replace(/^#+ */, '');
      if (/^(#.*|\w+:)?$/.test(line) || isRule(line) || isRule(all[index + 1])) return [];
      return [{ heading, line: plain(line) }];
    });
}

/** Strips the markup: bullets, numbers and backticks; the cells of a row are joined. */
function plain(line: string): string {
  const cells = line.startsWith('|') ? line.slice(1, -1).split('|') : [line.replace(/^(- |\d+\. )/, '')];
  return cells
    .map(cell => cell.trim().replaceAll('`', ''))
    .filter(cell => cell !== '')
    .join(' · ');
}

function render(entries: Coverage): string {
  const sections = Object.entries(entries).flatMap(([heading, list]) => [
    `## ${heading}`,
    '',
    '| line | operations | tests |',
    '|---|---|---|',
    ...list.map(row),
    '',
  ]);
  return [
    '# Which tests show which line of the specification',
    '',
    `Written by \`npm run coverage\` from [specification-coverage.yaml](specification-coverage.yaml): change that. A line`,
    'is given by its first words. Names of tests are as in the file, `%s` and `$name` stand for a row of its table.',
    'Nearly all run on SQLite and PostgreSQL. Italics say what was decided where the specification is silent.',
    '',
    ...sections,
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

function row({ line, endpoints, tests, note }: Entry): string {
  const files = Map.groupBy(tests.map(partsOf), ([file]) => file);
  const shown = [...files].map(([file, named]) => {
    const link = `[${file.replace(/^test\/|\.test\.ts$/g, '')}](../${file})`;
    return `${link}: ${named.map(([, name]) => `“${escaped(name)}”`).join(', ')}`;
  });
  const operations = endpoints.map(name => (name === 'every operation' ? name : `\`${name}\``));
  const decided = note === undefined ? '' : `<br>*${escaped(note)}*`;
  return `| ${escaped(line)}${decided} | ${operations.join('<br>')} | ${shown.join('<br>')} |`;
}

/** Escapes the text for a table cell. */
function escaped(text: string): string {
  return text.replaceAll(/[|*_<>[\]`\\]/g, '\\$&');
}
