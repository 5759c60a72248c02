/** The service's own pages: the root page, and those that mails link to. Tested in a browser where one is installed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { addPerson } from '../support/data/people.ts';
import { call } from '../support/http/http.ts';
import { browserPath, openTab, type Tab } from '../support/peers/browser.ts';
import { mailsOf, mailTo, tokenIn } from '../support/peers/mails.ts';
import { signIn, startTestService, type TestService } from '../support/service/service.ts';

/** The Accept header of Firefox for a typed address. */
const byBrowser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let service: TestService;
beforeAll(async () => {
  service = await startTestService('sqlite');
});
afterAll(() => service.stop());

describe('the pages', () => {
  test.each([
    ['/', undefined],
    ['/password-reset', 'v1/auth/password-reset'],
    ['/verify', 'v1/auth/verify'],
    ['/restore-address', 'v1/auth/restore-address'],
  ])('%s loads no resources, sends no referrer and runs only its own script', async (path, action) => {
    const page = await call(service, { path: `${path}?token=a-token-to-keep-secret`, headers: byBrowser });
    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('Cache-Control')).toBe('no-store');
    expect(page.headers.get('Referrer-Policy')).toBe('no-referrer');
    if (action !== undefined) expect(page.text).toContain(`data-action="${action}"`);
    expect(page.text).not.toMatch(/token-to-keep|src=|href="(?:https?:|\/)| on\w+=| style=/);
    const policy = page.headers.get('Content-Security-Policy') ?? '';
    expect(policy).toStartWith("default-src 'none'; ");
    expect(policy).not.toContain('unsafe');
    for (const element of ['script', 'style']) {
      const text = new RegExp(`<${element}>([^]*?)</${element}>`).exec(page.text)?.[1];
      const hash = new Bun.CryptoHasher('sha256').update(text ?? '').digest('base64');
      expect(policy.includes(`${element}-src 'sha256-${hash}'`)).toBe(text !== undefined);
    }
    expect(JSON.stringify(service.log())).not.toContain('a-token-to-keep-secret');
  });

  test.each([
    [byBrowser.Accept, 'text/html; charset=utf-8'],
    ['text/html', 'text/html; charset=utf-8'],
    ['*/*', 'application/json'],
    ['application/json, text/html;q=0.9', 'application/json'],
  ])('/ for Accept: %s is %s', async (accept, type) => {
    const response = await call(service, { path: '/', headers: { Accept: accept } });
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, type]);
    expect(response.headers.get('Vary')).toContain('Accept');
  });

  test('the first steps on / have working links and ignore forged hosts', async () => {
    const { text } = await call(service, { path: '/', headers: byBrowser });
    expect(text).toContain(`${service.url}/v1/auth/login`);
    const targets = [...text.matchAll(/href="([^"]+)"/g)].map(([, target = '']) => target);
    expect(targets).not.toBeEmpty();
    for (const target of targets) {
      const response = await fetch(new URL(target, `${service.url}/`));
      expect([target, response.status]).toEqual([target, 200]);
    }
    await using proxied = await service.replica({ TRUST_PROXY: 'true' });
    const headers = { ...byBrowser, 'X-Forwarded-Host': '<script>alert(1)</script>' };
    expect(await (await fetch(proxied.url, { headers })).text()).not.toContain('<script');
  });
});

/** Starts the service behind a proxy that removes a prefix from the paths of requests. */
async function createPrefixed() {
  const BASE_URL = 'https://shop.example/api/catalog';
  const replica = await service.replica({ BASE_URL });
  const { pathname } = new URL(BASE_URL);
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname: path, search } = new URL(request.url);
      if (!path.startsWith(`${pathname}/`)) return new Response('another service', { status: 404 });
      const target = `${replica.url}${path.slice(pathname.length)}${search}`;
      return fetch(target, { headers: request.headers, decompress: false });
    },
  });
  return {
    url: `http://127.0.0.1:${proxy.port}${pathname}`,
    async [Symbol.asyncDispose]() {
      await proxy.stop(true);
      await replica.stop();
    },
  };
}

test('/docs behind a prefix loads its files and the document and sends requests below the prefix', async () => {
  await using prefixed = await createPrefixed();
  const at = `${prefixed.url}/docs`;
  const page = await (await fetch(at)).text();
  const files = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file = '']) => new URL(file, at).href);
  expect(files).toEqual([`${prefixed.url}/docs/reader.css`, `${prefixed.url}/docs/reader.js`]);
  const [style, script] = await Promise.all(files.map(file => fetch(file)));
  expect([style?.status, script?.status]).toEqual([200, 200]);
  const [, named = ''] = /url: '([^']+)',\s+dom_id: '#reader'/.exec((await script?.text()) ?? '') ?? [];
  const document = new URL(named, at).href;
  expect(document).toBe(`${prefixed.url}/openapi.json`);
  const described = z.object({ servers: z.tuple([z.object({ url: z.string() })]) });
  const [server] = described.parse(await (await fetch(document)).json()).servers;
  expect(server.url).toBe('/api/catalog');
  const health = new URL(`${server.url}/health`, document);
  expect((await fetch(health)).status).toBe(200);
});

describe.skipIf(browserPath === undefined)('in a browser', () => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await openTab(browserPath ?? '');
  });
  afterAll(() => tab.close());

  const shown = () =>
    tab.evaluate<{ address: string; told: string; forms: boolean[]; next: string | null }>(`({
      address: location.pathname + location.search,
      told: document.querySelector('output').textContent,
      forms: [...document.forms].map(form => form.checkVisibility()),
      next: document.querySelector('#next a').checkVisibility() ? document.querySelector('#next a').href : null,
    })`);
  /** Fills in the form, submits it, and waits until the page shows a message. */
  const submit = (index: number, value = '') =>
    tab.evaluate(`new Promise(resolve => {
      const told = document.querySelector('output');
      told.textContent = '';
      new MutationObserver(resolve).observe(told, { childList: true });
      const form = document.forms[${index}];
      if (form.querySelector('input')) form.querySelector('input').value = ${JSON.stringify(value)};
      form.requestSubmit();
    }).then(() => undefined)`);

  test('the link of a mail works once, also after a reload, and leads to the next step', async () => {
    const account = await addPerson(service);
    const mails = await mailsOf(service, async () => {
      const body = { email: account.email };
      await call(service, { method: 'POST', path: '/v1/auth/forgot-password', body });
    });
    const link = `${service.url}/password-reset?token=${tokenIn(mailTo(mails, account.email))}`;
    await tab.open(link);
    await tab.reload();
    expect(await shown()).toEqual({ address: '/password-reset', told: '', forms: [true, false], next: null });
    await submit(0, 'one made in a browser');
    const done = {
      address: '/password-reset',
      told: 'Your password is set. You can now sign in with it.',
      forms: [false, false],
      next: `${service.url}/`,
    };
    expect(await shown()).toEqual(done);
    await tab.reload();
    expect(await shown()).toEqual(done);
    await signIn(service.url, account.email, 'one made in a browser');

    await tab.open(link);
    await submit(0, 'another one from a browser');
    expect(await shown()).toMatchObject({
      told: expect.stringContaining('used, or expired'),
      forms: [false, true],
    });
    const more = await mailsOf(service, () => submit(1, account.email).then(() => undefined));
    expect(tokenIn(mailTo(more, account.email))).not.toBe('');
    expect((await shown()).told).toContain('a mail with a link is on its way');
  });

  test('/docs behind a prefix lists the operations', async () => {
    await using prefixed = await createPrefixed();
    await tab.open(`${prefixed.url}/docs`);
    const found = await tab.evaluate<string>(`new Promise(resolve => {
      const look = () => {
        const found = document.querySelector('.opblock, .errors-wrapper, .loading-container .failed-config');
        if (found) resolve(found.className);
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
      look();
    })`);
    expect(found).toStartWith('opblock');
  });

  test('without a token the page refers to the link in the mail', async () => {
    await tab.open(`${service.url}/verify`);
    expect(await shown()).toMatchObject({
      told: 'Open this page with the link in your mail.',
      // The second form requests a new link.
      forms: [false, true],
    });
  });
});
