/** Query parameters whose names callers choose: all with the same prefix become one member of the parsed query. */
import { z } from 'zod';
import { anyText, isStorable, notStorable } from '../schema.ts';

/** Maximum number of such parameters in one request, and of all their values together. */
const maxNames = 20;
const maxValues = 100;

export interface Prefixed {
  readonly prefix: string;
  /** What may follow the prefix, from `^` to `$`. */
  readonly name: RegExp;
  readonly description: string;
  readonly maxValueLength: number;
}

/**
 * @returns a schema of `{prefixed name: [values in their order]}`. The document describes it as an object whose members
 * are parameters (`style: form`, `explode: true`)
 */
export function prefixedParameters({ prefix, name, description, maxValueLength }: Prefixed) {
  const pattern = `^${prefix.replaceAll('.', '\\.')}${name.source.slice(1)}`;
  const value = { type: 'string', maxLength: maxValueLength, pattern: anyText };
  const override = {
    type: 'object',
    propertyNames: { pattern },
    maxProperties: maxNames,
    additionalProperties: { anyOf: [value, { type: 'array', items: value, maxItems: maxValues }] },
  };
  return z
    .record(z.string(), z.array(z.string()))
    .superRefine((values, context) => {
      const refuse = (path: string[], rule: string, message: string) =>
        context.addIssue({ code: 'custom', path, message, params: { rule } });
      const names = Object.keys(values);
      const [surplus] = names.slice(maxNames);
      if (surplus !== undefined)
        refuse(
          [surplus],
          'maxProperties',
          `must be omitted: at most ${maxNames} names may begin with ${prefix}`,
        );
      let count = 0;
      for (const given of names) {
        const before = count;
        count += values[given]?.length ?? 0;
        if (before <= maxValues && count > maxValues)
          refuse(
            [given],
            'maxItems',
            `must have fewer values: at most ${maxValues} under all names with ${prefix}`,
          );
        if (!name.test(given.slice(prefix.length)))
          refuse([given], 'pattern', `must have a name that matches ${pattern}`);
        if (values[given]?.some(value => value.length > maxValueLength) === true)
          refuse([given], 'maxLength', `must be at most ${maxValueLength} characters long`);
        if (values[given]?.every(isStorable) === false)
          refuse([given], notStorable.params.rule, notStorable.error);
      }
    })
    .optional()
    .meta({ prefix, description, override });
}

/** The prefix of the parameters that a member of a query schema stands for; undefined for a single parameter. */
export function findPrefix(field: z.core.$ZodType): string | undefined {
  const prefix = z.globalRegistry.get(field)?.prefix;
  return typeof prefix === 'string' ? prefix : undefined;
}

/** The prefixes of a query schema, with the member of each. */
export function getPrefixes(schema: z.ZodObject): { readonly prefix: string; readonly member: string }[] {
  return Object.entries(schema.shape).flatMap(([member, field]) => {
    const prefix = findPrefix(field);
    return prefix === undefined ? [] : [{ prefix, member }];
  });
}
