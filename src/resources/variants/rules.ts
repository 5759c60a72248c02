/** Rules for a variant that depend on its product, which determines the options. */
import { buildErrorDetail, createFieldError, HttpError } from '../../http/errors.ts';
import { refuseBelowReserved } from '../products/rules.ts';
import type { Product } from '../products/schema.ts';
import type { Variant, VariantFields } from './schema.ts';

/**
 * @param before the current variant; undefined for a new one
 * @throws HttpError 400 naming the field and its value
 */
export function refuseUnfit(product: Product, before: Variant | undefined, fields: VariantFields): void {
  refuseOptions(product, fields.options);
  const { imageId, stock } = fields;
  if (imageId !== null && imageId !== before?.imageId && !product.images.some(({ id }) => id === imageId))
    throw createFieldError(
      'imageId',
      'unknown',
      `must be the id of an image of product ${product.id}, not ${imageId}`,
    );
  refuseBelowReserved(before?.stock ?? null, stock);
}

export function createCombinationTakenError(id: number, options: VariantFields['options']): HttpError {
  const shown = Object.entries(options).map(([name, value]) => `${name} "${value}"`);
  const message = `must be unique: variant ${id} of the product has ${shown.join(', ')}`;
  const details = [buildErrorDetail(['options'], 'unique', message)];
  return new HttpError('DUPLICATE', { message: `options: ${message}`, details });
}

function refuseOptions(product: Product, chosen: VariantFields['options']): void {
  if (product.options.length === 0) {
    const reason = `product ${product.id} has no options: give it some, with their values, before its variants`;
    throw createFieldError('options', 'noOptions', reason);
  }
  const names = product.options.map(({ name }) => `"${name}"`).join(', ');
  for (const name of Object.keys(chosen)) {
    if (product.options.some(option => option.name === name)) continue;
    throw createFieldError(
      ['options', name],
      'unknown',
      `is not an option of product ${product.id}, which has ${names}`,
    );
  }
  for (const { name, values } of product.options) {
    const value = Object.hasOwn(chosen, name) ? chosen[name] : undefined;
    if (value === undefined) throw createFieldError(['options', name], 'required', 'is required');
    if (values.includes(value)) continue;
    const listed = values.map(one => `"${one}"`).join(', ');
    throw createFieldError(['options', name], 'enum', `must be one of ${listed}, not "${value}"`);
  }
}
