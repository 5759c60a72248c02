/** What stands on the pages of a PDF, and where. */
import { decodePDFRawStream, PDFArray, PDFDocument, PDFRawStream } from 'pdf-lib';

export interface Written {
  readonly text: string;
  /** In points, from the left and the bottom edge. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

export interface PdfContent {
  readonly pages: readonly (readonly Written[])[];
  readonly title: string | undefined;
  readonly createdAt: Date | undefined;
}

/** Reads the PDFs that this service makes: text in WinAnsi, one piece for each move. */
export async function readPdf(bytes: Uint8Array): Promise<PdfContent> {
  const pdf = await PDFDocument.load(bytes, { updateMetadata: false });
  const pages = pdf.getPages().map(page => {
    const contents = page.node.Contents();
    const streams = contents instanceof PDFArray ? contents.asArray() : [contents];
    const text = streams
      .map(part => pdf.context.lookup(part))
      .filter(part => part instanceof PDFRawStream)
      .map(part => Buffer.from(decodePDFRawStream(part).decode()).toString('latin1'))
      .join('\n');
    const pieces = text.matchAll(/\/\S+ ([\d.]+) Tf[\s\S]*?1 0 0 1 ([\d.]+) ([\d.]+) Tm\s+<([\dA-F]*)> Tj/g);
    return [...pieces].map(([, size, x, y, hex]) => ({
      text: new TextDecoder('windows-1252').decode(Buffer.from(hex ?? '', 'hex')),
      x: Number(x),
      y: Number(y),
      size: Number(size),
    }));
  });
  return { pages, title: pdf.getTitle(), createdAt: pdf.getCreationDate() };
}
