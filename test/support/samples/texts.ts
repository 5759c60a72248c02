/** Texts of arbitrary characters, for properties. */
import fc from 'fast-check';

/** Like fast-check's `binary`, which lists all of Unicode and so takes a third of a second before the first text. */
const anyCharacter = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xff }) },
    fc.integer({ min: 0x100, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0xffff }),
    fc.integer({ min: 0x10000, max: 0x10ffff }),
  )
  .map(code => String.fromCodePoint(code));

/** Any well-formed text, including U+0000, control characters, and characters beyond the Basic Multilingual Plane. */
export const anyTextOf = (limits: { readonly minLength?: number; readonly maxLength: number }) =>
  fc.string({ unit: anyCharacter, ...limits });
