/**
 * Raises the price of every product of a category by some per cent, without overwriting anybody's change:
 *
 *   npm run example -- http://127.0.0.1:3000 admin@catalog.example PASSWORD lighting 5
 *
 * It signs in, goes through the products page by page with the cursor, and sends each change with If-Match. When
 * somebody was faster (412) it reads the product again; when the quota is used up (429) it waits.
 */
import { type Catalog, createCatalog } from '@catalog/client';

const [baseUrl, email, password, category, percent] = process.argv.slice(2);
if (!baseUrl || !email || !password || !category || !percent || !Number.isFinite(Number(percent))) {
  console.error('usage: raise-prices URL EMAIL PASSWORD CATEGORY PERCENT');
  process.exit(2);
}
const factor = 1 + Number(percent) / 100;

const catalog = createCatalog({
  baseUrl,
  credentials: { email, password },
  onWait: (seconds, status) => console.error(`waiting ${seconds} s (${status})`),
});

let raised = 0;
for await (const id of productsOf(catalog, category)) {
  await raise(catalog, id);
  raised += 1;
}
console.log(`raised ${raised} prices by ${percent} %`);

/** The ids of all products of a category; the cursor holds even while others add and remove products. */
async function* productsOf(client: Catalog, wanted: string): AsyncGenerator<number> {
  let cursor: string | undefined;
  do {
    const query = { category: wanted, limit: 50, ...(cursor === undefined ? {} : { cursor }) };
    const { data, error } = await client.GET('/v1/products', { params: { query } });
    if (data === undefined) throw new Error(`the list was refused: ${error.message}`);
    for (const { id } of data.data) yield id;
    cursor = 'nextCursor' in data.meta ? (data.meta.nextCursor ?? undefined) : undefined;
  } while (cursor !== undefined);
}

async function raise(client: Catalog, id: number): Promise<void> {
  for (;;) {
    const read = await client.GET('/v1/products/{id}', { params: { path: { id } } });
    // Deleted since the page was read.
    if (read.response.status === 404) return;
    if (read.data === undefined) throw new Error(`product ${id} cannot be read: ${read.error.message}`);
    const price = Math.round(read.data.price * factor * 100) / 100;
    const etag = read.response.headers.get('ETag') ?? '*';
    const { response, error } = await client.PATCH('/v1/products/{id}', {
      params: { path: { id }, header: { 'If-Match': etag } },
      body: { price },
    });
    if (response.ok) return;
    if (response.status !== 412) throw new Error(`product ${id} cannot be changed: ${error?.message}`);
  }
}
