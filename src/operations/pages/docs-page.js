// Runs in the browser, after Swagger UI: shows the document of this service, in the colours the reader prefers.
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', paint);
  paint();
  SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#reader',
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    // The usual one shows numbers in too pale a red.
    syntaxHighlight: { theme: 'tomorrow-night' },
    validatorUrl: null,
    plugins: [withoutServers],
  });

  /** The one server is the one that serves this page: a list of one says nothing. */
  function withoutServers() {
    return { wrapComponents: { ServersContainer: () => () => null } };
  }

  /** Fields without a label get the name of their parameter, or of what they choose; what scrolls does so by keys too. */
  function makeAccessible() {
    for (const text of document.querySelectorAll('#reader pre:not([tabindex])')) text.tabIndex = 0;
    for (const field of document.querySelectorAll('#reader :is(select, textarea, input):not([aria-label])')) {
      const parameter = field.closest('[data-param-name]')?.dataset.paramName;
      const usual = field.matches('textarea') ? 'Body' : 'Example';
      if (field.labels.length === 0)
        field.setAttribute('aria-label', parameter ?? (field.placeholder || usual));
    }
  }
  const reader = document.getElementById('reader');
  new MutationObserver(makeAccessible).observe(reader, { childList: true, subtree: true });
})();
