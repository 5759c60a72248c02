/** The glossary of CONTRIBUTING.md: one word for each thing, in code, documentation and the titles of tests. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';

const root = join(import.meta.dir, '..');
const tracked = ['*.md', 'src/**/*.ts', 'docs/**/*.md', 'test/**/*.ts'].flatMap(pattern => [
  ...new Glob(pattern).scanSync({ cwd: root }),
]);

/** Words that the glossary in CONTRIBUTING.md replaces. */
const refused =
  /\b(remember(s|ed|ing)?|anew|who(m)?ever|kin|crosswise|tall(y|ies)|mend(s|ed|ing)?|aside(?! from)|runLate|othersAsk|surroundings|(un)?told|asked for|look-ups?|(a|the|each|every|last|next|first|second|quick|one|same) look(?! of)|(two|last|most) looks)\b|\b(the|an|whose|most|no|usual|stored|cached|empty|idempotent|translated) answers?\b|\banswers? (of|to|is|are|that)\b/i;

test('code, documentation and the titles of tests keep to the glossary', () => {
  expect(
    ['is cached', 'the answer', 'asked for', 'it was told', 'since the last look'].map(text =>
      refused.test(text),
    ),
  ).toEqual([false, true, true, true, true]);
  const glossary =
    readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('## Glossary')[1]?.split('\n## ')[0] ?? '';
  expect(glossary.split('\n').length).toBeGreaterThan(15);
  const found: string[] = [];
  for (const path of tracked) {
    if (path === 'docs/specification-coverage.md') continue;
    const text = readFileSync(join(root, path), 'utf8').replace(glossary, '');
    for (const [index, line] of text.split('\n').entries()) {
      if (path.startsWith('test/') && !/\b(test|describe\w*)(\.\w+)*\(|as const\)\(/.test(line)) continue;
      if (path !== 'test/architecture-words.test.ts' && refused.test(line))
        found.push(`${path}:${index + 1}: ${line.trim()}`);
    }
  }
  expect(found).toEqual([]);
});

/** Words that comments do without: a request, client, user, process or transaction is called by its name. */
const vague = /\b(asked|tells?|nobody|somebody|everybody|anybody)\b/i;

test('comments and decisions name who does something', () => {
  const found: string[] = [];
  for (const path of tracked.filter(path => path.startsWith('src/'))) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const [comment] of text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm))
      for (const line of comment.split('\n')) if (vague.test(line)) found.push(`${path}: ${line.trim()}`);
  }
  for (const path of tracked.filter(path => path.startsWith('docs/decisions/')))
    for (const line of readFileSync(join(root, path), 'utf8').split('\n'))
      if (vague.test(line)) found.push(`${path}: ${line}`);
  expect(found).toEqual([]);
});
