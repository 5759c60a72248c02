/** Options: the properties in which variants of a product differ, with their possible values. */
import { z } from 'zod';
import { hasNoneTwice, text } from '../../../http/schema.ts';

/** The maximum number of options of a product, and of values of an option. */
export const maxOptions = 5;
export const maxValues = 200;
/** The maximum length of a name and of a value: values in shops may be sentences. */
export const maxOptionLengths = { name: 50, value: 255 } as const;

const twice = { params: { rule: 'uniqueItems' } };

const option = z
  .object({
    name: text(maxOptionLengths.name)
      .refine(name => name !== '__proto__', { error: 'cannot be a name', params: { rule: 'name' } })
      .describe('The name, as variants use it.')
      .meta({ examples: ['Size'] }),
    values: z
      .array(text(maxOptionLengths.value))
      .min(1)
      .max(maxValues)
      .refine(hasNoneTwice, { error: 'must not name a value twice', ...twice })
      .describe('The values that variants may have.')
      .meta({ uniqueItems: true, examples: [['S', 'M', 'L']] }),
  })
  .meta({ id: 'Option' });

export const options = z
  .array(option)
  .max(maxOptions)
  .refine(all => hasNoneTwice(all.map(({ name }) => name)), {
    error: 'must not name an option twice',
    ...twice,
  })
  .describe(
    `The options in which variants differ: up to ${maxOptions} names, each with its values. Lists and searches can be filtered by them as by attributes: \`Size\` as \`attr.size\`.`,
  );

export type Option = z.output<typeof option>;
