/** A plain-text mail to one address. */
export type EmailMessage = { to: string; subject: string; text: string };
