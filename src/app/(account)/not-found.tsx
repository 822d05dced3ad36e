import { NotFoundMessage } from "../not-found-message.tsx";

export { generateMetadata } from "../not-found.tsx";

export default NotFoundMessage;
