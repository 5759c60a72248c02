/**
 * Raises the price of every product of a category, and of its variants, by some per cent, without overwriting the
 * changes of others:
 *
 *   npm run example -- http://127.0.0.1:3000 admin@catalog.example PASSWORD lighting 5
 *
 * It signs in as an administrator and creates an API key, which has its own quota; RATE, the last argument, is the
 * number of requests per window that the key may send. With the key, it reads the products page by page with the
 * cursor, and sends each change with If-Match. If another change came first (412), it reads the product again; if the
 * quota is used up (429), it waits. At the end, it revokes the key.
 */
import { type Catalog, createCatalog } from '@catalog/client';

const [baseUrl, email, password, category, percent, rate] = process.argv.slice(2);
const numbers = [Number(percent), Number(rate ?? 1)];
if (!baseUrl || !email || !password || !category || !percent || !numbers.every(Number.isFinite)) {
  console.error('usage: raise-prices URL EMAIL PASSWORD CATEGORY PERCENT [RATE]');
  process.exit(2);
}
if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
  console.error(`raise-prices: URL is an address such as http://127.0.0.1:3000, not "${baseUrl}"`);
  process.exit(2);
}
const factor = 1 + Number(percent) / 100;
const pageSize = 50;
/** Of products without one. */
const defaultCurrency = 'EUR';

const onWait = (seconds: number, status: number) => console.error(`waiting ${seconds} s (${status})`);
const administrator = createCatalog({ baseUrl, credentials: { email, password }, onWait });

try {
  const { id, key } = await ownKey(administrator);
  try {
    const catalog = createCatalog({ baseUrl, credentials: { apiKey: key }, onWait });
    await checkQuota(catalog, category);
    let raised = 0;
    for await (const product of productsOf(catalog, category)) raised += await raiseAll(catalog, product);
    console.log(`raised ${raised} prices by ${percent} %`);
  } finally {
    // If this fails, the key still expires; the caller needs to see the original error.
    await administrator.DELETE('/v1/keys/{id}', { params: { path: { id } } }).catch(() => undefined);
  }
} catch (error) {
  // Errors of the system have a code, but do not name the server.
  const where = error instanceof Error && 'code' in error ? `${new URL(baseUrl).origin}: ` : '';
  console.error(`raise-prices: ${where}${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

/** A key for this run; if the run is interrupted, the key expires after a day. */
async function ownKey(client: Catalog): Promise<{ id: number; key: string }> {
  const { data, error } = await client.POST('/v1/keys', {
    body: {
      name: 'raise-prices',
      scopes: ['products:read', 'products:write'],
      expiresAt: new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString(),
      ...(rate === undefined ? {} : { rateLimit: Number(rate) }),
    },
  });
  if (data === undefined) throw new Error(`no API key was made: ${error.message}`);
  return data;
}

/** Warns at the start if the quota is too small. */
async function checkQuota(client: Catalog, wanted: string): Promise<void> {
  const { data, response, error } = await client.GET('/v1/products', {
    params: { query: { category: wanted, perPage: 1 } },
  });
  if (data === undefined) throw new Error(`the list was refused: ${error.message}`);
  const total = 'total' in data.meta ? (data.meta.total ?? 0) : 0;
  // One request for each page of fifty products; a read and a change for each product, without variants.
  const needed = Math.max(1, Math.ceil(total / pageSize)) + 2 * total;
  const [limit, remaining, window] = ['Limit', 'Remaining', 'Window'].map(name =>
    Number(response.headers.get(`X-RateLimit-${name}`)),
  );
  if (limit === undefined || remaining === undefined || needed <= remaining) return;
  const windows = Math.ceil((needed - remaining) / limit);
  console.error(
    `${total} products take ${needed} requests, and this key may send ${limit} in ${window} s: it will wait for up to ${windows} windows; give RATE to allow it more`,
  );
}

/** The ids of all products of a category; the cursor stays valid while others add and remove products. */
async function* productsOf(client: Catalog, wanted: string): AsyncGenerator<number> {
  let cursor: string | undefined;
  do {
    const query = { category: wanted, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
    const { data, error } = await client.GET('/v1/products', { params: { query } });
    if (data === undefined) throw new Error(`the list was refused: ${error.message}`);
    for (const { id } of data.data) yield id;
    cursor = 'nextCursor' in data.meta ? (data.meta.nextCursor ?? undefined) : undefined;
  } while (cursor !== undefined);
}

/** The raised price, in whole units of the currency: JPY has no decimals, KWD three. */
function raise(price: number, currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const units = 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2);
  return Math.round(price * factor * units) / units;
}

/** @returns the number of prices raised */
async function raiseAll(client: Catalog, id: number): Promise<number> {
  let raised = 0;
  for (;;) {
    const read = await client.GET('/v1/products/{id}', { params: { path: { id } } });
    // Deleted since the page was read.
    if (read.response.status === 404) return raised;
    if (read.data === undefined) throw new Error(`product ${id} cannot be read: ${read.error.message}`);
    const { price, basePrice = price, currency, variantCount } = read.data;
    // First, because the price that a product shows, sent back, would change nothing.
    if (variantCount > 0 && raised === 0) {
      raised = await raiseVariants(client, id, currency ?? defaultCurrency);
      if (raised > 0) continue;
    }
    const etag = read.response.headers.get('ETag') ?? '*';
    const { response, error } = await client.PATCH('/v1/products/{id}', {
      params: { path: { id }, header: { 'If-Match': etag } },
      body: { price: raise(basePrice, currency ?? defaultCurrency) },
    });
    if (response.ok) return raised + 1;
    if (response.status !== 412) throw new Error(`product ${id} cannot be changed: ${error?.message}`);
  }
}

/** Raises the prices of the variants that have their own. */
async function raiseVariants(client: Catalog, id: number, currency: string): Promise<number> {
  let raised = 0;
  let cursor: string | undefined;
  do {
    const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
    const { data, error } = await client.GET('/v1/products/{id}/variants', {
      params: { path: { id }, query },
    });
    if (data === undefined) throw new Error(`the variants of ${id} cannot be read: ${error.message}`);
    for (const variant of data.data) {
      if (variant.price === null) continue;
      if (await raiseVariant(client, { id, variantId: variant.id }, currency)) raised += 1;
    }
    cursor = 'nextCursor' in data.meta ? (data.meta.nextCursor ?? undefined) : undefined;
  } while (cursor !== undefined);
  return raised;
}

async function raiseVariant(
  client: Catalog,
  path: { readonly id: number; readonly variantId: number },
  currency: string,
): Promise<boolean> {
  for (;;) {
    const read = await client.GET('/v1/products/{id}/variants/{variantId}', { params: { path } });
    if (read.response.status === 404 || read.data?.price === null) return false;
    if (read.data === undefined)
      throw new Error(`variant ${path.variantId} cannot be read: ${read.error.message}`);
    const etag = read.response.headers.get('ETag') ?? '*';
    const { response, error } = await client.PATCH('/v1/products/{id}/variants/{variantId}', {
      params: { path, header: { 'If-Match': etag } },
      body: { price: raise(read.data.price, currency) },
    });
    if (response.ok) return true;
    if (response.status !== 412)
      throw new Error(`variant ${path.variantId} cannot be changed: ${error?.message}`);
  }
}
