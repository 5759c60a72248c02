/** The body of a bulk PATCH: one change for many rows (`ids`, `update`), or a change for each (`updates`). */
import { z } from 'zod';
import { maxMembers } from '../../http/request/json.ts';
import { hasNoneTwice } from '../../http/schema.ts';
import { isObject } from '../../json-object.ts';
import { maxId } from '../../storage/database.ts';

const maxRows = 500;
const twice = { error: 'must not name an id twice', params: { rule: 'uniqueItems' } };
/** A rule that is also checked if members have problems, so that all are reported at once. */
const buildRule = (member: string, rule: string, error: string) => ({
  error,
  path: [member],
  params: { rule },
  when: ({ value }: { value: unknown }) => isObject(value),
});
const isRequired = (member: string) => buildRule(member, 'required', 'is required');

/** The document names the ids that exist; others are skipped, whatever their size. */
const id = z.int().meta({ minimum: 1, maximum: maxId });

const ids = z.array(id).min(1).max(maxRows).refine(hasNoneTwice, twice).meta({ uniqueItems: true });

/** @param update the members to set @param schemaId the name of the schema */
export const buildBulkBody = <Update extends z.ZodObject>(update: Update, schemaId: string) =>
  z
    .object({
      ids: ids.optional(),
      update: update.optional(),
      updates: z
        .array(z.object({ id, update }))
        .min(1)
        .max(maxRows)
        .refine(all => hasNoneTwice(all.map(({ id }) => id)), twice)
        .optional()
        .describe(
          'Instead of ids and update: a change for each id. Unique values are given in this order. Changes with more ' +
            `than ${maxMembers.toLocaleString('en')} members in total must be sent in several requests.`,
        ),
    })
    .refine(({ ids, updates }) => ids !== undefined || updates !== undefined, isRequired('ids'))
    .refine(({ update, updates }) => update !== undefined || updates !== undefined, isRequired('update'))
    .refine(
      ({ ids, update, updates }) => updates === undefined || (ids ?? update) === undefined,
      buildRule('updates', 'one', 'must not be given together with ids or update'),
    )
    .meta({ id: schemaId, oneOf: [{ required: ['ids', 'update'] }, { required: ['updates'] }] });

export interface BulkBody<Update> {
  readonly ids?: readonly number[] | undefined;
  readonly update?: Update | undefined;
  readonly updates?: readonly { readonly id: number; readonly update: Update }[] | undefined;
}

export interface RowChange<Update> {
  readonly id: number;
  readonly update: Update;
  /** The place of `update` in the body. */
  readonly path: readonly (string | number)[];
}

/** The changes of a body, in the order sent. */
export function toRowChanges<Update>({
  ids = [],
  update,
  updates = [],
}: BulkBody<Update>): RowChange<Update>[] {
  const same = update === undefined ? [] : ids.map(id => ({ id, update, path: ['update'] }));
  return [...same, ...updates.map((each, index) => ({ ...each, path: ['updates', index, 'update'] }))];
}
