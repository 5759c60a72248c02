/** The documentation page in a browser, where there is one: it is accessible, and trying out operations works. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { browserPath, openTab, type Tab, violationsIn } from '../../support/peers/browser.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

setDefaultTimeout(240_000);

describe.skipIf(browserPath === undefined)('the documentation page', () => {
  let service: TestService;
  let tab: Tab;
  beforeAll(async () => {
    service = await startTestService('sqlite');
    tab = await openTab(browserPath ?? '');
    await openDocs();
  });
  afterAll(async () => {
    await tab.close();
    await service.stop();
  });

  /** Opens the page with only the operations of todos, once: a browser takes ten seconds to read the document. */
  async function openDocs(): Promise<void> {
    await tab.open(`${service.url}/docs`);
    await until(`document.querySelector('.opblock')`);
    await showTag('Todos');
  }
  /** Filters the operations by the name of a tag. */
  async function showTag(tag: string): Promise<void> {
    await fill('.operation-filter-input', tag);
    await until(
      `document.querySelector('#operations-tag-${tag}') && document.querySelectorAll('.opblock-tag-section').length < 9`,
    );
  }

  /** Resolves when the condition holds in the page. */
  const until = (condition: string) =>
    tab.evaluate(`new Promise(resolve => {
      const settle = () => { if (${condition}) { observer.disconnect(); resolve(); } };
      const observer = new MutationObserver(settle);
      observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
      settle();
    })`);
  const click = (selector: string) =>
    tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  /** Fills a field as typing does: React observes the value's own setter. */
  const fill = (selector: string, value: string) =>
    tab.evaluate(`(() => {
      const field = document.querySelector(${JSON.stringify(selector)});
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, ${JSON.stringify(value)});
      field.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
  const operation = (id: string, tag = 'Todos') => `#operations-${tag}-${id}`;
  async function show(id: string, tag?: string): Promise<void> {
    const isShown = `document.querySelector('${operation(id, tag)}.is-open')`;
    if (!(await tab.evaluate<boolean>(`${isShown} !== null`)))
      await click(`${operation(id, tag)} .opblock-summary-control`);
    await until(isShown);
  }

  test('lists no HEAD and no OPTIONS, JSON first; a list, a POST and a PATCH work as they are filled in', async () => {
    await tab.emulate(1200, 'light');
    await showTag('Todos');
    const methods = await tab.evaluate<string[]>(
      `[...document.querySelectorAll('.opblock-summary-method')].map(({ textContent }) => textContent)`,
    );
    expect(methods).toEqual(['GET', 'POST', 'GET', 'PUT', 'PATCH', 'DELETE']);
    await show('listTodos');
    await until(`document.querySelector('${operation('listTodos')} .content-type')`);
    const offered = await tab.evaluate<string>(
      `document.querySelector('${operation('listTodos')} .content-type').value`,
    );
    expect(offered).toBe('application/json');

    await click('.btn.authorize');
    await until(`document.querySelector('#auth-bearer-value')`);
    await fill('#auth-bearer-value', service.tokens.user);
    await click('.auth-container .btn.authorize');
    await until(`document.querySelector('.btn-done')`);
    await click('.btn-done');
    for (const [id, status] of [
      ['createTodo', '201'],
      ['listTodos', '200'],
      ['patchTodo', '200'],
    ] as const) {
      const block = operation(id);
      await show(id);
      // A shared parameter appears once the reader has resolved the operation. A request sent earlier would be lost.
      await until(`document.querySelector('${block} [data-param-name="X-Request-ID"]')`);
      await click(`${block} .btn.execute`);
      const answered = `${block} .live-responses-table .response .response-col_status`;
      await until(`document.querySelector('${answered}')`);
      const shown = await tab.evaluate<string>(`document.querySelector('${answered}').textContent`);
      expect([id, shown.slice(0, 3)]).toEqual([id, status]);
    }
  });

  // The examples of products contain every kind of value, including numbers and null.
  test.each([
    [1200, 'Todos', ['listTodos', 'createTodo']],
    [360, 'Todos', ['listTodos', 'createTodo']],
    [1200, 'Products', ['listProducts', 'createProduct', 'patchProduct', 'deleteProduct']],
    [360, 'Products', ['getProduct', 'replaceProduct']],
  ] as const)(
    'at %d pixels, in light and in dark, %s break no rule of WCAG 2.2 AA that axe checks',
    async (width, tag, operations) => {
      await tab.emulate(width, 'light');
      await showTag(tag);
      for (const id of operations) {
        await show(id, tag);
        await until(`document.querySelector('${operation(id, tag)} .response-col_status')`);
      }
      for (const scheme of ['light', 'dark'] as const) {
        await tab.emulate(width, scheme);
        await until(`document.documentElement.classList.contains('dark-mode') === ${scheme === 'dark'}`);
        expect([scheme, await violationsIn(tab)]).toEqual([scheme, []]);
        expect(await tab.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    },
  );
});
