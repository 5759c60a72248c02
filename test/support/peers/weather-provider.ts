/** A fake weather provider on a real port, which can respond well, wrongly, late or never, or be down. */

export type Mood =
  | 'good'
  /** Responds with 500. */
  | 'failing'
  /** Responds with 200 and something that is not weather. */
  | 'nonsense'
  /** Responds with 200 and weather of a day that does not exist. */
  | 'misdated'
  /** Responds with 200 and far too large a body. */
  | 'endless'
  /** Takes the request and never responds. */
  | 'silent'
  /** Responds to one request at a time, when the test releases it. */
  | 'held';

export interface FakeProvider {
  readonly url: string;
  mood: Mood;
  temperature: number;
  /** Paths of the requests so far, without queries. */
  readonly requests: string[];
  /** Resolves when a request is being held. */
  held(): Promise<void>;
  release(): void;
  /** From now on nothing listens at the address. */
  die(): Promise<void>;
}

const places: Readonly<Record<string, object>> = {
  smalltown: { name: 'Smalltown', latitude: 10.5, longitude: 20.5 },
  berlin: { name: 'Berlin', latitude: 52.52, longitude: 13.41 },
  パリ: { name: 'Paris', latitude: 48.85, longitude: 2.35 },
  バリ: { name: 'Bali', latitude: -8.34, longitude: 115.09 },
};

export function startProvider(): FakeProvider {
  let arrived = Promise.withResolvers<void>();
  let released = Promise.withResolvers<void>();
  const requests: string[] = [];

  function good(url: URL): Response {
    if (url.pathname === '/v1/search') {
      const place = places[(url.searchParams.get('name') ?? '').toLowerCase()];
      return Response.json(place === undefined ? { generationtime_ms: 1 } : { results: [place] });
    }
    const current = { time: '2026-01-15T09:15', temperature_2m: provider.temperature, weather_code: 61 };
    return Response.json({ latitude: 52.5, longitude: 13.4, current });
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url);
      requests.push(url.pathname);
      switch (provider.mood) {
        case 'good':
          return good(url);
        case 'failing':
          return new Response('boom', { status: 500 });
        case 'nonsense':
          return Response.json({
            current: { time: 'yesterday', temperature_2m: 'mild', weather_code: null },
          });
        case 'misdated':
          return Response.json({
            current: { time: '2026-13-45T99:99', temperature_2m: 4.5, weather_code: 61 },
          });
        case 'endless':
          return new Response(`{"current":"${'x'.repeat(1_000_000)}"}`);
        case 'silent':
          return new Promise<Response>(() => undefined);
        case 'held':
          arrived.resolve();
          await released.promise;
          return good(url);
      }
    },
  });
  const provider: FakeProvider = {
    url: `http://127.0.0.1:${server.port}`,
    mood: 'good',
    temperature: 4.5,
    requests,
    held: () => arrived.promise,
    release() {
      released.resolve();
      arrived = Promise.withResolvers();
      released = Promise.withResolvers();
    },
    die: () => server.stop(true),
  };
  return provider;
}
