/** Variants within the records of an import, validated independently of existing products. */
import { z } from 'zod';
import { buildErrorDetail, type ErrorDetail } from '../../../http/errors.ts';
import type { Parse } from '../../../http/request/parser.ts';
import { toErrorDetails } from '../../../http/schema.ts';
import { toCombination } from '../../variants/row.ts';
import { createVariant } from '../../variants/schema.ts';
import type { Option } from '../members/options.ts';
import { stockPart } from '../members/stock.ts';

export const variantRecords = z.array(
  createVariant.extend({
    stock: stockPart.nullish(),
    /** The address of one of the product's images: the counterpart of `imageId` in records from another catalog. */
    image: z.string().max(2048).nullish(),
  }),
);

/** A variant of a record; omitted members are absent. */
export type VariantRecord = z.output<typeof variantRecords>[number];

/** A combination for messages: `Size M, Colour Red`. */
export const formatOptions = (options: VariantRecord['options']): string =>
  Object.entries(options)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/**
 * Checks the variants of a record against each other: distinct combinations and skus, and the same options.
 * @param parse parses by `variantRecords`
 */
export function checkVariants(
  given: unknown,
  parse: Parse<VariantRecord[]>,
): VariantRecord[] | ErrorDetail[] {
  const result = parse(given);
  if (!result.success) return toErrorDetails(result.error, ['variants']);
  const [first] = result.data;
  const names = new Set(Object.keys(first?.options ?? {}));
  const had = new Map<string, number>();
  const details: ErrorDetail[] = [];
  const refuse = (index: number, field: string, code: string, message: string) =>
    details.push(buildErrorDetail(['variants', index, field], code, message));
  for (const [index, { options, sku }] of result.data.entries()) {
    const own = Object.keys(options);
    if (own.length === 0) {
      refuse(index, 'options', 'options', 'must name at least one option and its value');
    } else if (own.length !== names.size || !own.every(name => names.has(name))) {
      refuse(index, 'options', 'options', 'must name the same options as the first variant');
    }
    for (const [field, key, shown] of [
      ['options', own.length === 0 ? undefined : toCombination(options), formatOptions(options)],
      ['sku', sku == null ? undefined : `\0${sku}`, `"${sku}"`],
    ] as const) {
      if (key === undefined) continue;
      const other = had.get(key);
      if (other !== undefined)
        refuse(
          index,
          field,
          'uniqueItems',
          `must not be ${shown}, which variant ${other + 1} of the product has`,
        );
      else had.set(key, index);
    }
  }
  return details.length > 0 ? details : result.data;
}

export const isVariantDetails = (checked: VariantRecord[] | ErrorDetail[]): checked is ErrorDetail[] =>
  checked[0] !== undefined && 'pointer' in checked[0];

/** Option values of variants that the record does not list. @param variants all with the same options */
export function checkOptions(variants: readonly VariantRecord[], options: readonly Option[]): ErrorDetail[] {
  const [first] = variants;
  if (first === undefined) return [];
  const values = new Map(options.map(option => [option.name, new Set(option.values)]));
  const refuse = (index: number, name: string, code: string, message: string) =>
    buildErrorDetail(['variants', index, 'options', name], code, message);
  const own = Object.keys(first.options);
  const wrong = [
    ...own
      .filter(name => !values.has(name))
      .map(name => refuse(0, name, 'unknown', 'is none of the options of the record')),
    ...[...values.keys()]
      .filter(name => !own.includes(name))
      .map(name => refuse(0, name, 'required', 'is required')),
  ];
  if (wrong.length > 0) return wrong;
  return variants.flatMap(({ options: chosen }, index) =>
    Object.entries(chosen)
      .filter(([name, value]) => values.get(name)?.has(value) !== true)
      .map(([name, value]) =>
        refuse(index, name, 'enum', `must be one of the values in options, not "${value}"`),
      ),
  );
}

/**
 * The options of variants, with names and values in the order of appearance.
 * @param first names that precede all others
 */
export function collectOptions(
  variants: readonly Pick<VariantRecord, 'options'>[],
  first: readonly string[] = [],
): Option[] {
  const values = new Map<string, Set<string>>(first.map(name => [name, new Set()]));
  for (const { options } of variants) {
    for (const [name, value] of Object.entries(options))
      values.getOrInsertComputed(name, () => new Set()).add(value);
  }
  return [...values]
    .map(([name, all]) => ({ name, values: [...all] }))
    .filter(({ values }) => values.length > 0);
}
