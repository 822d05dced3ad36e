/** A mail to one person, in plain text. */
export type EmailMessage = { to: string; subject: string; text: string };
