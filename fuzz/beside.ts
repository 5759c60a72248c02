/** Requests that match no operation: paths that nearly exist, with every method. */
import { methods } from './texts/hostile.ts';
import type { WireRequest } from './wire.ts';

const targets = [
  '/v1',
  '/v1/',
  '/v0/products',
  '/v2/products',
  '/V1/products',
  '/v1/Products',
  '/v1//products',
  '//v1/products',
  '//evil.example/v1/products',
  '/v1/products/',
  '/v1/products/1/',
  '/v1/products/1/2',
  '/v1/%70roducts',
  '/v1/products%2f1',
  '/v1/products%3fpage=1',
  '/v1/products;x=1',
  '/v1/products.json',
  '/v1/products\\1',
  '/health/',
  '/openapi.json/x',
  '/openapi.v1.json',
  '/%',
  '/%00',
  '/%2e%2e/etc/passwd',
  '/__proto__',
  '/constructor',
  '/.git/config',
  '/.env',
  '/favicon.ico',
  `/${'a/'.repeat(2000)}`,
  `/v1/${'a'.repeat(8000)}`,
  '/*',
  '/:id',
  '/{id}',
  '/?a=%zz',
  '/(unknown)',
];

export function besideCases(seed: number, limit: number): WireRequest[] {
  const cases = targets.flatMap(target =>
    methods.map(method => ({
      method,
      target,
      headers: [['X-Request-ID', 'beside']] as const,
      body: undefined,
    })),
  );
  const step = Math.max(1, cases.length / Math.max(1, limit));
  const count = Math.min(limit, cases.length);
  return Array.from({ length: count }, (_, index) => cases[Math.floor(index * step + (seed % step))]).flatMap(
    found => found ?? [],
  );
}
