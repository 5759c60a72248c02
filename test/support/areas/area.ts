/** An area of the service: its randomly drawn writes, and the paths that show them. */
import type { Role } from '../../../src/http/access.ts';
import type { Call } from '../http/http.ts';

export const words = ['lamp', 'lamps', 'oak', 'steel', 'red'] as const;
export const categories = ['Tools', 'Tools > Saws', 'Shoes'] as const;
/** The largest id that may exist. */
export const maxIds = 16;

export interface Write {
  /** The id of the product, category or other resource that is written. */
  readonly id: number;
  readonly word: string;
  readonly category: string;
  readonly number: number;
  readonly isFirst: boolean;
}

/** The request of each write, by name. Many requests are refused, and then change nothing. */
export type Writes = Readonly<Record<string, (write: Write) => Call>>;

export interface Area {
  readonly writes: Writes;
  /** Names of writes that are drawn more often, in proportion to how often each is listed. */
  readonly often: readonly string[];
  /** Paths that show the written data. */
  readonly reads: readonly string[];
}

export const options = [{ name: 'Size', values: ['S', 'M'] }];

export const sent = (method: string, path: string, body?: unknown, as: Role = 'admin'): Call => ({
  method,
  path,
  as,
  body,
});
export const post = (path: string, body: unknown, as?: Role): Call => sent('POST', path, body, as);
export const patch = (path: string, body: unknown, as?: Role): Call => sent('PATCH', path, body, as);
export const remove = (path: string): Call => sent('DELETE', path);
