/** The service's own pages in a browser, where there is one: they fit every screen, and are accessible. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { browserPath, openTab, type Tab, violationsIn } from '../../support/peers/browser.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

setDefaultTimeout(60_000);

describe.skipIf(browserPath === undefined)('the pages', () => {
  let service: TestService;
  let tab: Tab;
  beforeAll(async () => {
    service = await startTestService('sqlite');
    tab = await openTab(browserPath ?? '');
  });
  afterAll(async () => {
    await tab.close();
    await service.stop();
  });

  test.each([
    [1200, 'light'],
    [1200, 'dark'],
    [360, 'light'],
    [360, 'dark'],
  ] as const)(
    'at %d pixels in %s every page fits and breaks no rule that axe checks',
    async (width, scheme) => {
      await tab.emulate(width, scheme);
      for (const path of ['/', '/password-reset', '/verify', '/restore-address?token=x', '/verify?token=x']) {
        await tab.open(service.url + path);
        expect([path, await violationsIn(tab)]).toEqual([path, []]);
        const { wide, text, ground } = await tab.evaluate<{
          wide: number;
          text: string;
          ground: string;
        }>(`(() => {
        const { color, backgroundColor } = getComputedStyle(document.body);
        return { wide: document.documentElement.scrollWidth, text: color, ground: backgroundColor };
      })()`);
        expect([path, wide]).toEqual([path, width]);
        const brightness = (color: string) => Number(/\d+/.exec(color)?.[0]);
        expect(brightness(ground) < brightness(text)).toBe(scheme === 'dark');
      }
    },
  );
});
