/** Endpoints → OpenAPI 3.1: the document says what the code does because it is made from the same schemas. */
import type { Endpoint } from './endpoint.ts';

export interface DocumentOptions {
  /** Endpoints below the version's prefix. */
  readonly resources: readonly Endpoint[];
  /** Endpoints beside the versions. */
  readonly operations: readonly Endpoint[];
  /** The version's name, as in `v1`. */
  readonly version: string;
  readonly release: string;
}

export function openApiDocument(_options: DocumentOptions): Record<string, unknown> {
  return { openapi: '3.1.0' };
}
