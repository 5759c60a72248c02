/** The words of very long texts: the same as those of short ones, and limited in number for the worst texts. */
import { describe, expect, test } from 'bun:test';
import { toPlainText } from '../../../src/storage/search/text/html.ts';
import {
  collectWords,
  collectWordsInSteps,
  splitRuns,
  splitWords,
} from '../../../src/storage/search/text/split.ts';
import { toDocumentWords } from '../../../src/storage/search/text/words.ts';
import { superlinearGrowth } from '../../support/service/growth.ts';

/** The maximum length of a description, in characters. */
const longest = 100_000;
const filled = (unit: string, length = longest) => unit.repeat(Math.floor(length / unit.length));

describe('the words of a long text are those of its parts', () => {
  test.each([
    ['accents', 'Crème brûlée ist süß '],
    ['Arabic', 'السلام عليكم '],
    ['Arabic with its marks', 'مُحَمَّد '],
    ['Hangul', '안녕 하세요 '],
    ['Hindi', 'क़लम ज़मीन '],
    ['Chinese', '灯具，台灯。'],
    ['letters of two code units', '𝐀𝐁𝐂 𝐃 '],
    ['a ligature of four words', 'صلاة ﷺ '],
    ['plain words among others', 'plain words 12 V – ü '],
  ])('%s', (_, unit) => {
    const count = 400;
    const words = Array.from({ length: count }, () => splitWords(unit)).flat();
    expect(splitWords(unit.repeat(count))).toEqual(words);
    expect([...splitRuns(unit.repeat(count))].flatMap(run => run.words)).toEqual(words);
  });

  test('a run without blanks is not divided between a letter and its marks, or between two code units of a letter', () => {
    for (const unit of ['e\u0301\u05b0\u064b', '\u{1d400}', 'a\u{1d165}', 'か\u3099', '가'])
      expect(new Set(splitWords(filled(unit, 30_000)))).toEqual(new Set(splitWords(filled(unit, 3000))));
    const han = Array.from({ length: 9000 }, (_, index) => String.fromCodePoint(0x4e00 + index));
    expect(splitWords(han.join(''))).toEqual(han.slice(1).map((second, index) => han[index] + second));
  });
});

describe('characters that stand for several words give no more words than text in any language', () => {
  /** One word for each character, plus those of one piece. */
  const most = longest * 1.2;

  test.each(['\ufdfa', '\ufdfa ', '\ufdfaa', '\u3316', '\u3316 ', '5\u2033'])('%s', unit => {
    expect(collectWords(filled(unit), [])).toBeLessThan(most);
    const words = toDocumentWords({ title: 'Lamp', body: `zebra ${filled(unit)} okapi` });
    expect(words).toContain('zebra');
    expect(words).toContain('okapi');
  });

  test('a text in any language is read to its end', () => {
    for (const unit of ['한글', '灯', 'é', 'Σ', 'İ', 'ß', 'क़', 'ﬁ', '½']) {
      const words = splitWords(`${filled(`${unit} `)}é${unit}z`);
      expect(words.at(-1)).toEndWith('z');
    }
  });
});

/** The share of the longest step in the time of a whole split. */
function computeLongestShare(text: string): number {
  const steps = collectWordsInSteps(text, []);
  let [total, longest] = [0, 0];
  for (let done: boolean | undefined = false; done !== true; ) {
    const begin = performance.now();
    ({ done } = steps.next());
    const took = performance.now() - begin;
    total += took;
    longest = Math.max(longest, took);
  }
  return longest / total;
}

describe('no step of splitting a text without spaces does most of the work', () => {
  test.each(['東京都', 'ガラス', 'ｶﾞﾗｽ', 'รองเท้า', 'か\u3099'])('%s', unit => {
    const text = filled(unit);
    // Other processes interrupt some attempts in the middle of a step.
    const attempts = Array.from({ length: 40 }, () => text);
    expect(attempts.some(one => computeLongestShare(one) < 0.3)).toBe(true);
  });
});

/** A quarter of the maximum length of a description. */
const quarter = longest / 4;

describe('takes linear time', () => {
  test.each([
    ['marks to be put in order', '\u0301\u0323'],
    ['marks that are letters', '\u05b0\u064b\u0e38'],
    ['marks that are sounds', '\uff9e\u0323'],
    ['voiced marks after a letter without spaces', '\u3099'],
  ])('to split %s', async (_, unit) => {
    const split = (length: number) => toDocumentWords({ title: 'Lamp', body: `aか${filled(unit, length)}` });
    expect(await superlinearGrowth(split, quarter / 4)).toBeUndefined();
  });

  const tags = ['<script>', '<script><', '<style></', '<p>a', '<b>a', '<template ', '<!--', '</svg>'];
  const attributes = ['<b a="', '<b a= ', `="<b ='>'"`, '<style></b>'];
  test.each([...tags, ...attributes])('to take %s out of a text', async unit => {
    const taken = (length: number) => toPlainText(`${filled(unit, length)}>`);
    expect(await superlinearGrowth(taken, quarter)).toBeUndefined();
  });
});

test('an element that hides text hides it only if it ends, even after nested ones', () => {
  expect(toPlainText('<script>a <style>b</style> c <script>d')).toBe('a  c d');
  expect(toPlainText('<script>a</script><script>b <p>c</p>')).toBe('b c');
});
