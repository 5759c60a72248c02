/** Clients that create products one after the other while a fault is injected into the service. */

/** A service, or several lives or replicas of one. */
export interface Target {
  /** The address for the next request; waits while no service listens. */
  url(writer: number): string | Promise<string>;
  token(): string;
  /** Whether a request may end without a response, as when its service is killed. */
  readonly mayCut?: boolean;
  /** Whether a response may be 503 with Retry-After. */
  readonly mayRefuse?: boolean;
  /** Checks a product that was just created. @returns what is wrong with it */
  confirm?(id: number, writer: number): Promise<string | undefined>;
}

export interface Load {
  /** Names of acknowledged products. */
  readonly acknowledged: string[];
  readonly broken: string[];
  /** How many requests were refused or cut. */
  failures(): number;
  /** Resolves when this many more requests have been acknowledged. */
  acknowledge(more: number): Promise<void>;
  /** Resolves when this many more requests have been refused or cut. */
  fail(more: number): Promise<void>;
  /** Stops the clients, and resolves when all of them have finished their requests. */
  stop(): Promise<void>;
}

const writers = 8;

type Result = { readonly status: number; readonly text: string; readonly retryAfter: string | null };

/**
 * Every second client sends an Idempotency-Key and repeats its request until it is acknowledged, as clients should; the
 * others continue with the next product.
 * @param category the category of the products, which distinguishes one load from another
 */
export function startLoad(category: string, target: Target): Load {
  const { mayCut = false, mayRefuse = false } = target;
  const acknowledged: string[] = [];
  const broken: string[] = [];
  let failures = 0;
  let running = true;

  async function post(writer: number, name: string): Promise<Result | undefined> {
    const url = await target.url(writer);
    try {
      const response = await fetch(`${url}/v1/products`, {
        method: 'POST',
        // A new connection: on a kept one, fetch itself would retry.
        keepalive: false,
        headers: {
          Authorization: `Bearer ${target.token()}`,
          'Content-Type': 'application/json',
          ...(isKeyed(writer) ? { 'Idempotency-Key': name } : {}),
        },
        body: JSON.stringify({ name, price: 1, category }),
      });
      const retryAfter = response.headers.get('Retry-After');
      return { status: response.status, text: await response.text(), retryAfter };
    } catch (error) {
      if (!mayCut) broken.push(`${name}: ${error}`);
      return undefined;
    }
  }

  /** @returns whether the request was acknowledged; undefined when it may be tried again */
  async function create(writer: number, name: string): Promise<boolean | undefined> {
    const result = await post(writer, name);
    if (result?.status === 201) {
      const { id }: { id: number } = JSON.parse(result.text);
      const wrong = await target.confirm?.(id, writer);
      if (wrong !== undefined) broken.push(`${name}: ${wrong}`);
      acknowledged.push(name);
      return true;
    }
    // After a request was cut, the database may not know yet that its process has ended.
    const isBusy = result?.status === 409 && isKeyed(writer);
    const isRefused = result?.status === 503 && result.retryAfter !== null && mayRefuse;
    if (result !== undefined && !isBusy && !isRefused) {
      broken.push(`${name}: ${result.status} ${result.text}`);
      return false;
    }
    failures++;
    return undefined;
  }

  async function write(writer: number): Promise<void> {
    for (let turn = 0; running; turn++) {
      const name = `${category}/${writer}-${turn}`;
      while ((await create(writer, name)) === undefined && isKeyed(writer));
    }
  }

  const ended = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const until = async (condition: () => boolean) => {
    while (!condition() && broken.length === 0) await new Promise(resolve => setImmediate(resolve));
  };
  return {
    acknowledged,
    broken,
    failures: () => failures,
    acknowledge(more) {
      const target = acknowledged.length + more;
      return until(() => acknowledged.length >= target);
    },
    fail(more) {
      const target = failures + more;
      return until(() => failures >= target);
    },
    async stop() {
      running = false;
      await ended;
    },
  };
}

const isKeyed = (writer: number): boolean => writer % 2 === 0;

interface Page {
  readonly data: readonly { readonly name: string }[];
  readonly meta: { readonly total?: number; readonly nextCursor?: string | null };
}

/** Reads the names of all products of a category page by page, and the total that the service reports. */
export async function readNames(
  url: string,
  token: string,
  category: string,
): Promise<{ readonly names: readonly string[]; readonly broken: readonly string[] }> {
  const get = async (query: string): Promise<Page> => {
    const response = await fetch(`${url}/v1/products?category=${encodeURIComponent(category)}&${query}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    if (response.status !== 200) throw new Error(`the list is ${response.status}: ${await response.text()}`);
    // Boundary: a page of products, as the document describes it.
    return (await response.json()) as Page;
  };
  const names: string[] = [];
  for (let cursor: string | null | undefined = ''; cursor != null; ) {
    const page: Page = await get(`limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
    names.push(...page.data.map(({ name }) => name));
    cursor = page.meta.nextCursor;
  }
  const { total } = (await get('perPage=1')).meta;
  return { names, broken: total === names.length ? [] : [`total ${total}, but there are ${names.length}`] };
}
