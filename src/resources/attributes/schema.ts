/** The schema of attribute definitions: what a key of products' `attributes` means, and which values it takes. */
import { z } from 'zod';
import { attributeKey } from '../../attribute-key.ts';
import { listParameters } from '../../http/paginate.ts';
import { hasNoneTwice, identifier, oneOf, text, timestamp } from '../../http/schema.ts';
import { categoryPath, shownPath } from '../categories/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';
import { keyRule } from '../products/members/attributes.ts';

/** The maximum number of definitions: all of them are kept in memory. */
export const definitionsLimit = 1000;

const types = ['text', 'number', 'boolean', 'date', 'choice'] as const;

const notDistinct = { error: 'must not name a value twice', params: { rule: 'uniqueItems' } };

const key = z
  .string()
  .regex(attributeKey, keyRule)
  .describe('The member of products’ `attributes` that it defines; unique.')
  .meta({ maxLength: 64, examples: ['watt'] });
const label = text(100)
  .describe('The name shown to people.')
  .meta({ examples: ['Power'] });
const type = oneOf(types).describe('The type of its values.');
const unit = text(20)
  .describe('The unit of numbers.')
  .meta({ examples: ['W'] });
const choices = z
  .array(text(200))
  .max(500)
  .refine(hasNoneTwice, notDistinct)
  .describe('The values of the type `choice`, in the order in which they are offered; empty for other types.')
  .meta({ examples: [['red', 'green', 'blue']], uniqueItems: true });
const filterable = z.boolean().describe('Whether lists can be filtered by it (`?attr.colour=red`).');
const facet = z.boolean().describe('Whether it can be a facet of lists (`?facets=attr.colour`).');
const required = z.boolean().describe('Whether every product must have it.');
const requiredIn = <Path extends z.ZodType<string>>(path: Path) =>
  z
    .array(path)
    .max(100)
    .refine(hasNoneTwice, notDistinct)
    .describe('Paths of categories whose products must have it, including those of all categories below.')
    .meta({ examples: [['bulbs']], uniqueItems: true });

const example = {
  id: 1,
  key: 'watt',
  label: 'Power',
  type: 'number',
  unit: 'W',
  choices: [],
  filterable: true,
  facet: true,
  required: false,
  requiredIn: ['bulbs'],
  createdAt: '2026-01-15T09:30:00.000Z',
  updatedAt: '2026-01-15T09:30:00.000Z',
} as const;
const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...writable } = example;
export const definitionBodyExample = writable;

export const definition = z
  .object({
    id: identifier(),
    key,
    label,
    type,
    unit: unit.nullable(),
    choices,
    filterable,
    facet,
    required,
    requiredIn: requiredIn(shownPath),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  })
  .meta({ id: 'Attribute', example });

export const { hal, page } = buildHalSchemas(definition, 'attributes', { sometimes: ['edit', 'delete'] });

const fields = {
  key,
  label: label.nullish(),
  type,
  unit: unit.nullish(),
  choices: choices.nullish(),
  filterable: filterable.nullish(),
  facet: facet.nullish(),
  required: required.nullish(),
  requiredIn: requiredIn(categoryPath).nullish(),
};

const writtenFields = z.object(fields);

/** POST and PUT: omitted fields take the values of an attribute without definition; the label defaults to the key. */
export const replaceDefinition = writtenFields
  .superRefine(({ type, choices }, context) => {
    const count = choices?.length ?? 0;
    const problem =
      type === 'choice' && count === 0
        ? 'must name the values that the type choice takes'
        : type !== 'choice' && count > 0
          ? `must be empty: only the type choice takes them, not ${type}`
          : undefined;
    if (problem !== undefined)
      context.addIssue({ code: 'custom', path: ['choices'], message: problem, params: { rule: 'choices' } });
  })
  .transform(input => ({
    key: input.key,
    label: input.label ?? input.key,
    type: input.type,
    unit: input.unit ?? null,
    choices: input.choices ?? [],
    filterable: input.filterable ?? true,
    facet: input.facet ?? true,
    required: input.required ?? false,
    requiredIn: input.requiredIn ?? [],
  }))
  .meta({ id: 'WriteAttribute' });

export const patchDefinition = writtenFields.partial().meta({ id: 'PatchAttribute' });

export const sortColumns = { id: 'id', key: 'key', label: 'label', createdAt: 'created_at' } as const;
export const listDefinitions = z.object({
  key: key.optional().describe('Only the definition with this key.'),
  type: z.enum(types).optional().describe('Only definitions of this type.'),
  ...listParameters(sortColumns),
});

export type Definition = z.output<typeof definition>;
export type DefinitionFields = z.output<typeof replaceDefinition>;
