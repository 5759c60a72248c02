/** The glossary of CONTRIBUTING.md: one word for each thing, in code, documentation, comments and titles of tests. */
import { expect, test } from 'bun:test';
import { codeIn, commentsOf, filesOf, lineAt, read } from './source.ts';

const here = 'test/architecture/words.test.ts';
const documents = filesOf('*.md', 'docs/**/*.md', 'test/README.md').filter(
  path => path !== 'docs/specification-coverage.md',
);
const program = filesOf('src/**/*.ts');
const beside = filesOf('bench/**/*.{ts,mjs}', 'scripts/**/*.{ts,mjs}', 'fuzz/**/*.ts', 'examples/**/*.ts');
const tests = filesOf('test/**/*.ts').filter(path => path !== here);

/** Words that the glossary replaces. */
const refused =
  /\b(remember(s|ed|ing)?|anew|who(m)?ever|kin|crosswise|tall(y|ies)|mend(s|ed|ing)?|aside(?! from)|surroundings|(un)?told|asked for|look-ups?|(a|the|each|every|last|next|first|second|quick|one|same) look(?! of)|(two|last|most) looks)\b|\b(the|an|whose|most|no|usual|stored|cached|empty|idempotent|translated) answers?\b|\banswers? (of|to|is|are|that)\b/gi;

/** Words refused in names, where a word has no context and its meaning must be clear. */
const refusedInNames =
  /\b(answers?|tells?|telling|told|tall(y|ies)|remember\w*|met|meets?|meeting|letter with|(write|run) late|others ask)\b|^(most|largest|longest|shortest|smallest|fewest|least) (?!common)\w+/gi;

/** Words refused in comments, which must name the request, client, user, process or transaction. */
const vague =
  /\b(?:asked|tells?|nobody|somebody|everybody|anybody)\b|(?:^|\/\*\* |\/\/ |[.:;] )who [a-z]+s /gi;

/** Constructions refused in comments of the program, for which there are plain words. */
const stilted = /\b(?:but for|meanwhile|(?:is|are) to be|takes? note)\b/g;

/** Names that may contain refused words, and why. */
const allowedNames: Readonly<Record<string, string>> = {
  'src/storage/tables.ts answer': 'a column of a released migration',
  'src/http/idempotency.ts answer': 'the same',
  'src/app.ts answer': 'a verb',
};

/** `cachedAnswer` as `cached answer`. */
const inWords = (text: string): string => text.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2');

/** The lines of a text joined as they are read, without the markers that begin lines of comments. */
const joined = (text: string): string => text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/|>)?[ \t]*/g, ' ');

interface Part {
  readonly where: string;
  readonly text: string;
}

const commentsIn = (path: string): Part[] =>
  commentsOf(read(path)).map(({ text, line }) => ({ where: `${path}:${line}`, text }));

/** The paragraphs of a text, which empty lines separate. */
const paragraphsIn = (path: string, text: string): Part[] =>
  [...text.matchAll(/(?:^.*\S.*$\n?)+/gm)].map(({ 0: paragraph, index }) => ({
    where: `${path}:${lineAt(text, index)}`,
    text: paragraph,
  }));

const lineByLine = (path: string): Part[] =>
  read(path)
    .split('\n')
    .map((text, index) => ({ where: `${path}:${index + 1}`, text }));

const namesIn = (path: string): Part[] => {
  const names = new Set(
    codeIn(path)
      .replaceAll(/'[^'\n]*'|`[^`]*`/g, '')
      .match(/[A-Za-z_$][\w$]*/g),
  );
  return [...names]
    .map(name => ({ where: `${path} ${name}`, text: inWords(name) }))
    .filter(({ where }) => !(where in allowedNames));
};

const titlesIn = (path: string): Part[] =>
  [
    ...read(path).matchAll(
      /(?:\b(?:test|describe\w*)(?:\.\w+)*(?:\([^'`"\n]*\))?|as const\))\(\s*(?:'[^'\n]*'|`[^`]*`|"[^"\n]*")/g,
    ),
  ].map(({ 0: text, index }) => ({ where: `${path}:${lineAt(read(path), index)}`, text }));

const found = (parts: readonly Part[], words: RegExp): string[] =>
  parts.flatMap(({ where, text }) =>
    [...joined(text).matchAll(words)].map(
      ({ 0: word, index, input }) =>
        `${where}: ${word} (${input.slice(Math.max(0, index - 30), index + 50)})`,
    ),
  );

test('refused words are found in names, and across the lines of a comment', () => {
  const words = [
    'is cached',
    'the answer',
    'asked for',
    'it was told',
    'since the last look',
    'a stored\n * answer',
    inWords('isTold'),
  ];
  expect(words.map(text => found([{ where: '', text }], refused).length)).toEqual([0, 1, 1, 1, 1, 1, 1]);
  expect(found([{ where: '', text: inWords('cachedAnswer tellAll') }], refusedInNames).length).toBe(2);
  expect(found([{ where: '', text: inWords('longestWord') }], refusedInNames).length).toBe(1);
});

test('documents keep to the glossary', () => {
  const glossary = read('CONTRIBUTING.md').split('## Glossary')[1]?.split('\n## ')[0] ?? '';
  expect(glossary.split('\n').length).toBeGreaterThan(15);
  expect(
    found(
      documents.flatMap(path => paragraphsIn(path, read(path).replace(glossary, ''))),
      refused,
    ),
  ).toEqual([]);
});

test('code and its comments keep to the glossary', () => {
  const parts = [...program, ...beside].flatMap(path => [...lineByLine(path), ...commentsIn(path)]);
  expect(found(parts, refused)).toEqual([]);
});

test('names keep to the glossary', () => {
  const names = [...program, ...beside].flatMap(namesIn);
  expect(names.length).toBeGreaterThan(10_000);
  expect([...found(names, refused), ...found(names, refusedInNames)]).toEqual([]);
});

test('titles and comments of tests keep to the glossary', () => {
  const titles = tests.flatMap(titlesIn);
  expect(titles.length).toBeGreaterThan(1000);
  expect(found([...titles, ...tests.flatMap(commentsIn)], refused)).toEqual([]);
});

test('comments and decisions name the actor', () => {
  const decisions = documents.filter(path => path.startsWith('docs/decisions/'));
  expect(found([...program, ...beside, ...tests].flatMap(commentsIn), vague)).toEqual([]);
  expect(found(program.flatMap(commentsIn), stilted)).toEqual([]);
  expect(
    found(
      decisions.flatMap(path => paragraphsIn(path, read(path))),
      vague,
    ),
  ).toEqual([]);
});
