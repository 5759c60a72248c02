/** Texts in the fonts of invoices. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createFonts } from '../../../src/resources/invoices/pdf/fonts.ts';
import { anyTextOf } from '../../support/samples/texts.ts';

test('any text is shown in characters that a font has', async () => {
  const fonts = createFonts();
  await fc.assert(
    fc.asyncProperty(anyTextOf({ maxLength: 60 }), async text => {
      await fonts.prepare(text);
      const { text: shown } = fonts.shown(text);
      expect(fonts.shown(shown)).toEqual({ text: shown, isExact: true });
      const runs = fonts.runs(shown, true);
      expect(runs.map(run => run.text).join('')).toBe(shown);
    }),
    { numRuns: 100, examples: [['\u{fff9}\0!'], ['a \u{ad} b'], ['\u{e000}\u{ad}\u{302a}']] },
  );
});
