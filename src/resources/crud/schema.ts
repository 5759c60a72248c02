/** The schemas that follow from that of a resource. */
import type { z } from 'zod';
import { buildHalSchema, buildLinksSchema, buildPageSchemas } from '../../http/hal/index.ts';

/**
 * The schemas of a resource in HAL, and of pages of it.
 * @param relation of the items of a page in HAL
 * @param always the links that each has, in addition to `self`; others have `sometimes`
 */
export function buildHalSchemas(
  resource: z.ZodObject,
  relation: string,
  always: readonly string[],
  sometimes: readonly string[],
  meta?: z.ZodRawShape,
) {
  const name = `${resource.meta()?.id}`;
  const hal = buildHalSchema(resource, `${name}Hal`, buildLinksSchema(['self', ...always], sometimes));
  return { hal, page: buildPageSchemas(resource, hal, relation, `${name}List`, meta && { meta }) };
}
