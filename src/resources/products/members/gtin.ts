/** Global Trade Item Numbers (GS1): GTIN-8, UPC-A (12), EAN-13 and GTIN-14, each with its check digit. */
import { z } from 'zod';

const form = /^(?:\d{8}|\d{12,14})$/;

/** Whether the check digit is right: weighted 3 and 1 alternately from the right, digits sum to a multiple of 10. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const weight = (digits.length - index) % 2 === 0 ? 3 : 1;
    sum += weight * (digits.charCodeAt(index) - 48);
  }
  return sum % 10 === 0;
}

const hasOtherDigits = (digits: string): boolean => /[1-9]/.test(digits);

/** Whether a text is a GTIN: a valid length, the right check digit, and not only zeros. */
export const isGtin = (text: string): boolean =>
  form.test(text) && hasCheckDigit(text) && hasOtherDigits(text);

/** The form in which GTINs are compared, without leading zeros: 12 digits equal the same 13 with a zero before them. */
export const toComparableGtin = (gtin: string): string => gtin.replace(/^0+/, '');

/** Including surrounding white space, which is trimmed. */
const maxGtinLength = 64;

export const gtin = z
  .string()
  .max(maxGtinLength)
  .trim()
  .refine(text => form.test(text), { error: 'must be 8, 12, 13 or 14 digits', params: { rule: 'pattern' } })
  .refine(text => !form.test(text) || hasCheckDigit(text), {
    error: 'must end with its check digit',
    params: { rule: 'checkDigit' },
  })
  .refine(text => !form.test(text) || hasOtherDigits(text), {
    error: 'must not have only zeros',
    params: { rule: 'pattern' },
  })
  .describe('GTIN (EAN, UPC): 8, 12, 13 or 14 digits; the check digit is verified. Stored as sent.')
  .meta({ pattern: '^\\s*(?:\\d{8}|\\d{12,14})\\s*$', examples: ['4006381333931'] });

export const gtinParameter = z
  .string()
  .max(maxGtinLength)
  .trim()
  .regex(/^\d{8,14}$/, 'must be 8 to 14 digits')
  .meta({ examples: ['4006381333931'] });
