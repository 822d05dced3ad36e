// API keys, service keys and the secrets of links, as src/auth creates them.
const SECRET = /(tg[sl]?_)[A-Za-z0-9]{40,}/g;

/** The text with every key and link secret of ours replaced, wherever it stands: `tgl_***`. */
export function maskSecrets(text: string): string {
  return text.includes("tg") ? text.replace(SECRET, "$1***") : text;
}
