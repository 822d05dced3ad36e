import { LinkButton } from "./button.tsx";
import { NarrowPage } from "./narrow-page.tsx";

/** A page on which nothing can be done but to go on from it. */
export function DeadEnd({ words, href }: { words: Record<"title" | "about" | "way", string>; href: string }) {
  return (
    <NarrowPage title={words.title} about={words.about}>
      <LinkButton href={href} look="main">
        {words.way}
      </LinkButton>
    </NarrowPage>
  );
}
