export type ReadEventStream = {
  contentType: string | null;
  events: { id: string; event: string; data: string }[];
  comments: string[];
  isEnded(): boolean;
  close(): Promise<void>;
};

/** Opens a stream of server-sent events and collects what arrives. Fails unless the status is 200. */
export async function openEventStream(
  url: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<ReadEventStream> {
  const aborting = new AbortController();
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: aborting.signal,
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const events: ReadEventStream["events"] = [];
  const comments: string[] = [];
  let isEnded = false;
  const reading = (async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) {
        if (message.startsWith(": ")) comments.push(message.slice(2));
        else events.push(Object.fromEntries(message.split("\n").map(field)) as ReadEventStream["events"][0]);
      }
    }
  })()
    .catch(() => {})
    .finally(() => {
      isEnded = true;
    });
  return {
    contentType: response.headers.get("content-type"),
    events,
    comments,
    isEnded: () => isEnded,
    close: async () => {
      aborting.abort();
      await reading;
    },
  };
}

function field(line: string): [string, string] {
  const colon = line.indexOf(": ");
  return [line.slice(0, colon), line.slice(colon + 2)];
}
