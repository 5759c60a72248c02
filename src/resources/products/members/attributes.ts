/** Attributes: values that describe a product, under keys that the catalog chooses. */

import { z } from 'zod';
import { attributeKey } from '../../../attribute-key.ts';
import { anyText, hasAtMost, isStorable, notStorable } from '../../../http/schema.ts';
import { isObject } from '../../../json-object.ts';

const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
export type Attributes = Record<string, z.output<typeof value>>;

export const maxKeys = 100;
const maxTextLength = 1000;
const maxTexts = 50;
export const keyRule = 'must begin with a to z, then up to 63 of a to z, 0 to 9, _ . and -';
const keyPattern = attributeKey.source;

interface Problem {
  readonly path: readonly (string | number)[];
  readonly rule: string;
  readonly message: string;
}

function findTextProblem(text: string, path: Problem['path']): Problem | undefined {
  if (!isStorable(text)) return { path, rule: notStorable.params.rule, message: notStorable.error };
  if (hasAtMost(text, maxTextLength)) return undefined;
  return { path, rule: 'maxLength', message: `must be at most ${maxTextLength} characters long` };
}

function findProblem(key: string, value: unknown): Problem | undefined {
  if (!attributeKey.test(key)) return { path: [key], rule: 'pattern', message: `has a name that ${keyRule}` };
  if (typeof value === 'boolean') return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return undefined;
  if (typeof value === 'string') return findTextProblem(value, [key]);
  if (!Array.isArray(value)) {
    const message = 'must be a string, a finite number, true, false, or an array of strings';
    return { path: [key], rule: 'type', message };
  }
  if (value.length > maxTexts)
    return { path: [key], rule: 'maxItems', message: `must have ${maxTexts} items or fewer` };
  for (const [index, item] of value.entries()) {
    const path = [key, index];
    if (typeof item !== 'string') return { path, rule: 'type', message: 'must be a string' };
    const problem = findTextProblem(item, path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findProblems(value: unknown): Problem[] {
  if (!isObject(value)) {
    // An object without members becomes an empty array in languages that have one type for both.
    const message = Array.isArray(value) ? 'must be an object, not an array' : 'must be an object';
    return [{ path: [], rule: 'type', message }];
  }
  const entries = Object.entries(value);
  if (entries.length > maxKeys)
    return [{ path: [], rule: 'maxProperties', message: `must have ${maxKeys} keys or fewer` }];
  return entries.flatMap(([key, one]) => findProblem(key, one) ?? []);
}

const text = { type: 'string', maxLength: maxTextLength, pattern: anyText };
const override = {
  type: 'object',
  propertyNames: { type: 'string', pattern: keyPattern, maxLength: 64 },
  maxProperties: maxKeys,
  additionalProperties: {
    anyOf: [
      text,
      { type: 'number' },
      { type: 'boolean' },
      { type: 'array', maxItems: maxTexts, items: text },
    ],
  },
  examples: [{ colour: 'walnut', watt: 12.5, dimmable: true, materials: ['walnut', 'steel'] }],
  description: `Up to ${maxKeys} values under keys of your choice: text, a number, a boolean, or several texts.`,
};

/** Attributes in a response. */
export const attributes = z.record(z.string(), value).meta({ override });

/** Validated by hand: for a union Zod reports no reason, and for an invalid key no path. */
export const sentAttributes = z
  .unknown()
  .transform((sent, context): Attributes => {
    for (const { path, rule, message } of findProblems(sent))
      context.addIssue({ code: 'custom', path: [...path], message, params: { rule }, input: sent });
    // Boundary: findProblems has checked every member; a value with problems is not used.
    return sent as Attributes;
  })
  .meta({ override });
