/** What is wrong with a text that is not JSON: found in exactly the texts that JSON.parse refuses. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { findSyntaxProblem } from '../../src/http/request/json-syntax.ts';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const piece = fc.oneof(
  fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    '\\u12aF',
    '\\n',
    "'",
    ' ',
    '\n',
    '\t',
    '\0',
    '\u2028',
  ),
  fc.constantFrom('true', 'null', 'NaN', '"a"', '-', '.', '0', '01', '1.5', 'e', 'E+2', '\ud800', 'é'),
);

/** JSON with some characters replaced, removed or inserted. */
const damaged = fc
  .tuple(
    fc.json(),
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.oneof(fc.constant(''), piece)), { maxLength: 3 }),
  )
  .map(([text, changes]) =>
    changes.reduce((changed, [place, removed, added]) => {
      const at = place % (changed.length + 1);
      return changed.slice(0, at) + added + changed.slice(at + removed);
    }, text),
  );

test('a problem is found exactly in what JSON.parse refuses', () => {
  let refused = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.array(piece, { maxLength: 12 }).map(all => all.join('')),
      ),
      text => {
        const problem = findSyntaxProblem(text);
        expect([text, problem === undefined]).toEqual([text, isJson(text)]);
        if (problem === undefined) return;
        refused++;
        expect(problem.at).toBeLessThanOrEqual(text.length);
      },
    ),
    { numRuns: 2000 },
  );
  expect(refused).toBeGreaterThan(100);
});
