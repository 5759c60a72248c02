/** The schemas that follow from that of a resource. */
import type { z } from 'zod';
import { buildHalSchema, buildLinksSchema, buildPageSchemas } from '../../http/hal/index.ts';

/** The links of a resource in HAL: those that each has in addition to `self`, and those that only some have. */
interface LinkNames {
  readonly always?: readonly string[];
  readonly sometimes?: readonly string[];
}

/**
 * The schemas of a resource in HAL, and of pages of it.
 * @param resource its `id` begins the names of the schemas
 * @param relation of the items of a page in HAL
 */
export function buildHalSchemas(
  resource: z.ZodObject,
  relation: string,
  { always = [], sometimes = [] }: LinkNames,
  meta?: z.ZodRawShape,
) {
  const name = resource.meta()?.id;
  if (name === undefined) throw new Error(`the schema of ${relation} has no id`);
  const hal = buildHalSchema(resource, `${name}Hal`, buildLinksSchema(['self', ...always], sometimes));
  return { hal, page: buildPageSchemas(resource, hal, relation, `${name}List`, meta && { meta }) };
}
