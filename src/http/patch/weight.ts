/** The cost of copying a value within a document. */

/** The maximum nesting of a copied value: far beyond any resource, and safe to walk recursively. */
const maxDepth = 100;

/** Copying a value takes longer than copying a character. A product has some thousands of values at most. */
const valueWeight = 10;

/**
 * The characters of strings and names in `value`, plus `valueWeight` for each value. A result above `max` is not
 * exact; it is Infinity if the value nests too deep.
 */
export function weighValue(value: unknown, max: number, levels = maxDepth): number {
  if (typeof value === 'string') return valueWeight + value.length;
  if (typeof value !== 'object' || value === null) return valueWeight;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  let weight = names.reduce((sum, name) => sum + name.length, valueWeight);
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (weight > max) break;
    weight += weighValue(member, max - weight, levels - 1);
  }
  return weight;
}
