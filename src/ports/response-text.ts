/** Reads responses of other services up to a limit: a faulty one must not exhaust the memory. */

/** @throws Error when the text is longer than the limit, or the response ends early */
export async function readLimitedText(response: Response, maxLength: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxLength) throw new Error(`the response is longer than ${maxLength} characters`);
  }
  return text + decoder.decode();
}
