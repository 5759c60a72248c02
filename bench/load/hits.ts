/** The hit rates of the service's caches, from its own metrics. */
export type CacheNumbers = ReadonlyMap<string, number>;

/** @returns the number of requests by cache and result, such as `resources hit` */
export async function readCaches(port: number): Promise<CacheNumbers> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const samples = text.matchAll(/^catalog_cache_requests_total\{cache="(\w+)",result="(\w+)"\} (\d+)$/gm);
  return new Map([...samples].map(([, cache, result, number]) => [`${cache} ${result}`, Number(number)]));
}

/** The hit rates between two readings, for single products and for lists: `97 %, 82 %`. */
export function hitRates(before: CacheNumbers, after: CacheNumbers): string {
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const shares = ['resources', 'lists'].map(cache => {
    const all = grown(`${cache} hit`) + grown(`${cache} miss`);
    return all === 0 ? '–' : `${Math.round((grown(`${cache} hit`) / all) * 100)} %`;
  });
  return shares.join(', ');
}
