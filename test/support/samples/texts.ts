/** Texts for properties: of any characters at all. */
import fc from 'fast-check';

/** As fast-check's `binary`, which costs a third of a second before the first text: it lists all of Unicode. */
const anyCharacter = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xff }) },
    fc.integer({ min: 0x100, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0xffff }),
    fc.integer({ min: 0x10000, max: 0x10ffff }),
  )
  .map(code => String.fromCodePoint(code));

/** Any well-formed text, with U+0000, control characters and those beyond the Basic Multilingual Plane. */
export const anyTextOf = (limits: { readonly minLength?: number; readonly maxLength: number }) =>
  fc.string({ unit: anyCharacter, ...limits });
