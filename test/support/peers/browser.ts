/** A headless Chromium, driven over its DevTools protocol: for what only a browser can show of the service's pages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The path of an installed Chromium, if there is one. */
export const browserPath = ['chromium', 'chromium-browser', 'google-chrome']
  .map(name => Bun.which(name))
  .find(path => path !== null);

export interface Tab {
  /** Opens an address, and resolves when the page has loaded. */
  open(url: string): Promise<void>;
  reload(): Promise<void>;
  /** The value of an expression in the page; a promise is awaited. */
  evaluate<T>(expression: string): Promise<T>;
  /** @param scheme the user's preferred colour scheme */
  emulate(width: number, scheme: 'light' | 'dark'): Promise<void>;
  close(): Promise<void>;
}

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly frameId?: string; readonly loaderId?: string };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export async function openTab(executable: string): Promise<Tab> {
  const profile = mkdtempSync(join(tmpdir(), 'catalog-browser-'));
  const quiet = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
  ];
  const child = Bun.spawn(
    [executable, ...quiet, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'],
    { stdout: 'ignore', stderr: 'pipe' },
  );
  let said = '';
  for await (const chunk of child.stderr) {
    said += new TextDecoder().decode(chunk);
    if (said.includes('DevTools listening on')) break;
  }
  const port = /ws:\/\/127\.0\.0\.1:(\d+)\//.exec(said)?.[1];
  if (port === undefined) throw new Error(`the browser did not start: ${said}`);
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    type: string;
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '');
  await new Promise(resolve => socket.addEventListener('open', resolve, { once: true }));

  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  /** Called for each document that has loaded, with its frame and its loader. */
  const loads = new Set<(frame?: string, loader?: string) => void>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data)) as Reply;
    if (method === 'Page.lifecycleEvent' && params?.name === 'load')
      for (const loaded of loads) loaded(params.frameId, params.loaderId);
    const asked = id === undefined ? undefined : waiting.get(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error.message));
  });
  const send = <T>(method: string, params: object = {}): Promise<T> => {
    const id = ++last;
    socket.send(JSON.stringify({ id, method, params }));
    // Boundary to the protocol: the caller knows the type of the method's result.
    return new Promise<T>((resolve, reject) =>
      waiting.set(id, { resolve: result => resolve(result as T), reject }),
    );
  };
  type FrameTree = { frameTree: { frame: { id: string; loaderId: string } } };
  /** Resolves when a new document has loaded; the load event of the current one may arrive late. */
  const loaded = async (method: string, params: object) => {
    const { frame } = (await send<FrameTree>('Page.getFrameTree')).frameTree;
    const { promise, resolve } = Promise.withResolvers<void>();
    const report = (id?: string, loader?: string) => {
      if (id === frame.id && loader !== frame.loaderId) resolve();
    };
    loads.add(report);
    await send(method, params);
    await promise;
    loads.delete(report);
  };
  await send('Page.enable');
  await send('Page.setLifecycleEventsEnabled', { enabled: true });
  return {
    open: url => loaded('Page.navigate', { url }),
    reload: () => loaded('Page.reload', {}),
    async evaluate<T>(expression: string) {
      const parameters = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await send<{ result: { value: T }; exceptionDetails?: object }>(
        'Runtime.evaluate',
        parameters,
      );
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return result.value;
    },
    async emulate(width, scheme) {
      const screen = { width, height: 800, deviceScaleFactor: 1, mobile: true };
      await send('Emulation.setDeviceMetricsOverride', screen);
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await send('Emulation.setEmulatedMedia', { features });
    },
    async close() {
      socket.close();
      child.kill();
      await child.exited;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Violations of the WCAG 2.2 AA rules that axe checks, in the page as it is now. */
export async function violationsIn(tab: Tab): Promise<readonly string[]> {
  await tab.evaluate(await Bun.file(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)).text());
  return tab.evaluate(`axe
    .run({
      runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
      rules: { 'target-size': { enabled: true } },
      resultTypes: ['violations'],
    })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, any }) => [id, ...target, ...any.map(({ message }) => message)].join(': ')),
    ))`);
}
