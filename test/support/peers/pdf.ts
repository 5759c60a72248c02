/** The texts on the pages of a PDF, with their positions. */
import { getDocumentProxy } from 'unpdf';

interface Written {
  readonly text: string;
  /** In points, from the left and the bottom edge. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface PdfContent {
  readonly pages: readonly (readonly Written[])[];
  readonly title: string | undefined;
  readonly createdAt: string | undefined;
}

export async function readPdf(bytes: Uint8Array): Promise<PdfContent> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const pages: Written[][] = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const { items } = await (await pdf.getPage(number)).getTextContent({ disableNormalization: true });
    const written = items.flatMap(item =>
      'str' in item && item.str.trim() !== ''
        ? [{ text: item.str, x: item.transform[4], y: item.transform[5], width: item.width }]
        : [],
    );
    pages.push(written);
  }
  const { info } = await pdf.getMetadata();
  // Boundary to the reader, which types the document's own members as unknown.
  const { Title, CreationDate } = info as { Title?: string; CreationDate?: string };
  return { pages, title: Title, createdAt: CreationDate };
}
