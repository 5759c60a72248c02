/** An area of the service: writes of it drawn by chance, and what shows them. */
import type { Role } from '../../../src/http/access.ts';
import type { Call } from '../http/http.ts';

export const words = ['lamp', 'lamps', 'oak', 'steel', 'red'] as const;
export const categories = ['Tools', 'Tools > Saws', 'Shoes'] as const;
/** Ids that there may be, at most. */
export const mostIds = 16;

export interface Write {
  /** Of a product, category or whatever else is written. */
  readonly id: number;
  readonly word: string;
  readonly category: string;
  readonly number: number;
  readonly isFirst: boolean;
}

/** By name: the request that makes a write. Many are refused, which changes nothing anywhere. */
export type Writes = Readonly<Record<string, (write: Write) => Call>>;

export interface Area {
  readonly writes: Writes;
  /** Those that are drawn more often, each as often as it is there. */
  readonly often: readonly string[];
  /** Paths that show what is written. */
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
