/** Enough to tell secrets apart, and not to sign with. */
export function maskedSecret(secret: string): string {
  return `…${secret.slice(-4)}`;
}
