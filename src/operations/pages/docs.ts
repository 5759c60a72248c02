/** The documentation page: Swagger UI over /openapi.json. The service serves all of its files. */
import { join } from 'node:path';
import { computeEntityTag } from '../../http/cache/conditional.ts';
import { succeedOnce } from '../../turns/once.ts';

/** A file of the page. */
interface DocsAsset {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly mediaType: string;
  /** Reads the file and computes its tag on first use. */
  read(): Promise<StaticBody>;
}

/** A body that is the same for all requests until the next release. */
export interface StaticBody {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export function createStaticBody(text: string): StaticBody {
  const body = new TextEncoder().encode(text);
  return { body, etag: computeEntityTag(body) };
}

export interface Docs {
  readonly page: string;
  readonly contentSecurityPolicy: string;
  readonly assets: readonly DocsAsset[];
}

/** Its addresses are relative, so that they also work behind a proxy that adds a path prefix. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Catalog API</title>
<link rel="stylesheet" href="docs/reader.css">
</head>
<body>
<div id="reader"></div>
<script src="docs/reader.js"></script>
</body>
</html>
`;

export function createDocs(): Docs {
  return {
    page,
    // Swagger UI sets styles of elements and shows icons as data; it may connect to this service only.
    contentSecurityPolicy:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    assets: [
      {
        path: '/docs/reader.js',
        operationId: 'getDocsScript',
        summary: 'Read the script of the documentation page',
        mediaType: 'text/javascript',
        read: createJoinedFile('swagger-ui-bundle.js', 'docs-page.js'),
      },
      {
        path: '/docs/reader.css',
        operationId: 'getDocsStyle',
        summary: 'Read the style sheet of the documentation page',
        mediaType: 'text/css',
        read: createJoinedFile('swagger-ui.css', 'docs-page.css'),
      },
    ],
  };
}

/**
 * A file of Swagger UI followed by one of the service's own; read once, or again if that fails. Its path is resolved at
 * once, as that of a library (ports/library.ts).
 */
function createJoinedFile(theirs: string, own: string): () => Promise<StaticBody> {
  const files = [Bun.resolveSync(`swagger-ui-dist/${theirs}`, import.meta.dir), join(import.meta.dir, own)];
  return succeedOnce(async () => {
    const texts = await Promise.all(files.map(file => Bun.file(file).text()));
    return createStaticBody(texts.join('\n'));
  });
}
