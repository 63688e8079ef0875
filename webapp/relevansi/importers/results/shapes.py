"""Shapes of JSON: which object is a question, where its list of results is, what is which.

A shape is data: paths of names with dots, alternatives with | between them. ``query``,
``query_id``, ``system``, ``answer`` and ``category`` start at the object of one question, ``items``
too; ``doc_id``, ``title``, ``text`` ... start at an item. Names are in lower case with _ between
words, and stand for `SearchResults` and `searchResults`, too. What a shape does not say of an item
is read by its usual names.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from relevansi.i18n import mark
from relevansi.importers.results.rows import (
    ITEM_ROLES,
    QUESTION_ROLES,
    WRAPPERS,
    Columns,
)

QUERY = (
    "query|question|user_input|inputs.question|inputs.query|inputs.input|input.question|"
    "input.query|input.value|input.input|inputs.text|inputs.example.question|inputs|input|request.query|request.q|request.input|"
    "request.retrieval_query.text|request|query_str|prompt|search_query|"
    "search_text|query_text|chat_input|params.query|params.q|q|search_parameters.q|"
    "queries.request.search_terms|query_context.original_query|request.body.query|search|input.text|"
    "example.inputs.question|example.question|pertanyaan|messages|request.messages"
)
ANSWER = (
    "response|answer|outputs.answer|outputs.output|outputs.response|output.answer|output.output|"
    "output.pred|generation|final_answer|output_text|result|llm_answer|agent_answer|"
    "model_answer|model_response|generated_response|generated_texts|response.answer|"
    "choices.message.content|response.choices.message.content|text_response|"
    "summary.summary_text|summary|completion|message.content|"
    + "|".join(QUESTION_ROLES["answer"].split())
)
USUAL_ITEMS = (
    "retrieved_contexts|retrieved_context|retrieved_chunks|retrieved_documents|retrieved_docs|"
    "retrieved_nodes|retrieved|hits.hits|response.hits.hits|results|hits|documents|contexts|"
    "passages|chunks|snippets|docs|nodes|sources|context|search_results|source_documents|"
    "outputs.documents|outputs.context|outputs.output|outputs.results|outputs|output.documents|"
    "output.context|matches|rows|points|ctxs|candidates|citations|items|data|web.results|"
    "organic_results|organic|web_pages.value|metadata.retriever_resources|reference.chunks|"
    "context_data.sources|retrieved_texts|doc_texts|texts|retrieved_context_ids|retrieved_ids|"
    "retrieved_document_ids|retrieved_chunk_ids|retrieved_node_ids|retrieved_doc_ids|doc_ids|document_ids|chunk_ids|ids|result_items|contents|"
    "retrieval_results|retrieval_result|contexts.contexts|"
    "results.items|results.results|results.hits|results.documents|groups.hits|"
    "choices.message.context.citations|choices.sources|output|response|"
    "retrieval_nodes|scored_chunks|hits.hit|data.chunks|response.data.chunks|"
    "retrieved_passages|retrieved_results|ranked_results|ranked_documents|ranked_list|ranked|"
    "ranking|result_list|top_documents|top_docs|top_results|top_k|topk|hasil_pencarian|hasil|"
    "dokumen|konteks|sumber|referensi|kutipan|references|evidence|source_nodes|objects|"
    "response.docs|root.children|value"
)


class Shape(Struct, frozen=True):
    """How the objects of one tool are read: its name (a message id) and the paths in them.

    ``only`` is a path and the value there of objects that hold results; others are passed over.
    ``sign`` is a path at which a tool is known that has the lists of others. ``example`` is a file
    in ``examples``.
    """

    name: str
    example: str
    items: str
    query: str = QUERY
    query_id: str = "|".join(QUESTION_ROLES["query_id"].split()) + "|query.qid|query.id"
    system: str = (
        "system|strategy|method|retriever|engine|run|run_name|search_method|config|pipeline|"
        "variant|experiment|algorithm|search_engine|system_name|sistem|metode|metode_pencarian|"
        "algoritma|"
        "metadata.system|metadata.strategy|metadata.method|metadata.retriever|"
        "system.name|retriever.name|config.name"
    )
    answer: str = ANSWER
    category: str = "category|kategori"
    doc_id: str = ""
    title: str = ""
    text: str = ""
    url: str = ""
    rank: str = "rank|position|pos|peringkat"
    score: str = ""
    grade: str = "rating|relevance_grade"
    only: tuple[str, str] | None = None
    sign: str = ""

    @property
    def is_usual(self) -> bool:
        return self.items is USUAL_ITEMS

    @property
    def is_mapped(self) -> bool:
        """Whether a person chose its paths."""
        return self.name == MAPPED

    def before(self, columns: Columns) -> Shape:
        """This shape with the paths that a person chose before its own."""
        roles = (role for role, path in columns.items() if path and hasattr(self, role))
        paths = {role: f"{columns[role]}|{getattr(self, role)}".strip("|") for role in roles}
        return replace(self, **paths)


SHAPES = (
    Shape("Langfuse", "langfuse.json", "output", only=("type", "RETRIEVER")),
    Shape("LangSmith", "langsmith.jsonl", "outputs.documents|outputs.output|outputs",
          only=("run_type", "retriever")),
    Shape("promptfoo", "promptfoo.json",
          "response.metadata.context|response.metadata.contexts|response.metadata.documents|"
          "response.output.context|response.output.contexts|response.output.documents|"
          "vars.context|vars.contexts|vars.documents|vars.retrieved_contexts",
          query="vars.query|vars.question|vars.input",
          answer="response.output.answer|response.output",
          system="provider.label|provider.id"),
    Shape("DeepEval", "deepeval.json", "retrieval_context"),
    Shape("TruLens", "trulens.json", "record_json.calls.rets"),
    Shape("Ragas", "ragas.jsonl", "retrieved_contexts"),
    Shape("MLflow", "mlflow.json", "retrieved_context|retrieved_doc_ids"),
    Shape("Haystack", "haystack.json", "documents|*.documents|*.answers.documents",
          query=f"{QUERY}|*.query|*.question",
          answer="*.replies|*.answers.data|data|" + ANSWER,
          sign="documents.content|*.documents.content|*.answers.documents.content"),
    Shape("LlamaIndex", "llamaindex.json", "source_nodes|response.source_nodes",
          answer=f"response.response|{ANSWER}"),
    Shape("LangChain", "langchain.json", "source_documents|context|outputs",
          answer=f"{ANSWER}|text"),
    Shape("Solr", "solr.json",
          "response.docs|grouped.*.groups.doclist.docs|grouped.*.doclist.docs",
          query=f"{QUERY}|response_header.params.q"),
    Shape("Elasticsearch, OpenSearch", "search.jsonl", "hits.hits|response.hits.hits"),
    Shape("Typesense", "typesense.json", "hits|grouped_hits.hits",
          query=f"{QUERY}|request_params.q", sign="request_params"),
    Shape("Vespa", "vespa.json", "root.children|response.root.children"),
    Shape("Upstash", "upstash.json", "result", text="data", sign="result.data"),
    Shape("Qdrant", "qdrant.json",
          "points|result.points|result.groups.hits|result"),
    Shape("Weaviate", "weaviate.json", "objects|data.get.*"),
    Shape("Pinecone", "pinecone.json", "matches|result.hits"),
    Shape("Chroma", "chroma.json", "documents", query="query_texts", rank=""),
    Shape("Azure AI Search", "azure.json", "value"),
    Shape("Algolia", "algolia.json", "hits", query=f"{QUERY}|params", query_id="",
          sign="hits.object_id"),
    Shape("Relevansi", "relevansi.json", "results", query="question",
          query_id="external_id|query_id", system="/search_method", answer="response",
          grade="relevance", only=("state", "results|empty|failed|unreadable")),
    Shape("Vertex AI Search", "vertex.json", "results", doc_id="id|document.id",
          title="document.derived_struct_data.title|document.struct_data.title",
          text="document.derived_struct_data.extractive_answers.content|"
          "document.derived_struct_data.extractive_segments.content|"
          "document.derived_struct_data.snippets.snippet|document.struct_data.text|chunk.content",
          url="document.derived_struct_data.link",
          sign="results.document.derived_struct_data|results.document.struct_data|"
          "results.chunk.content"),
    Shape("Amazon Bedrock", "bedrock.json",
          "retrieval_results|citations.retrieved_references|"
          "output.retrieved_passages.retrieval_results",
          query=f"{QUERY}|retrieval_query.text|input_record.prompt.content.text",
          answer=f"output.text|{ANSWER}",
          doc_id="metadata.x_amz_bedrock_kb_chunk_id|location.*.uri|location.*.url",
          text="content.text", url="location.*.url"),
    Shape("Amazon Kendra", "kendra.json", "result_items", query_id="", doc_id="document_id",
          title="document_title", text="document_excerpt|content", url="document_uri"),
    Shape("Cohere", "cohere.json", "results", sign="results.relevance_score"),
    Shape("OpenAI vector store", "vector_store.json", "data", query="search_query"),
    Shape("OpenAI Responses", "responses.json", "output.results",
          query="input|request.input|output.queries|response.output.queries",
          answer="output.content.text|response.output.content.text"),
    Shape("OpenAI Assistants", "assistants.json",
          "step_details.tool_calls.file_search.results|"
          "data.step_details.tool_calls.file_search.results|"
          "steps.data.step_details.tool_calls.file_search.results", text="content.text"),
    Shape("Gemini", "gemini.json",
          "candidates.grounding_metadata.grounding_chunks|"
          "response.candidates.grounding_metadata.grounding_chunks",
          answer="candidates.content.parts.text|response.candidates.content.parts.text",
          title="*.title", text="retrieved_context.text", url="*.uri"),
    Shape("Azure OpenAI On Your Data", "on_your_data.json",
          "choices.message.context.citations", doc_id="url|filepath"),
    Shape("TREC RAG, TREC iKAT", "trec_rag.jsonl", "references",
          query=f"topic|narrative|metadata.narrative|{QUERY}",
          query_id="turn_id|topic_id|narrative_id|metadata.topic_id|metadata.narrative_id",
          system="run_id|metadata.run_id", answer="answer.text|responses.text",
          sign="answer.citations|responses.citations"),
    Shape("TREC iKAT, TREC CAsT", "ikat.json",
          "responses.passage_provenance|responses.provenance", query_id="turn_id",
          answer="responses.text", rank=""),
    Shape("R2R", "r2r.json",
          "results.chunk_search_results|results.search_results.chunk_search_results",
          answer="results.generated_answer", doc_id="id"),
    Shape("Dify", "dify.json", "records", query=f"query.content|{QUERY}", doc_id="segment.id",
          title="segment.document.name", text="segment.content"),
    Shape("FastGPT", "fastgpt.json", "quote_list", query_id="", doc_id="id", title="source_name",
          text="q"),
    Shape("Onyx", "onyx.json", "top_documents|search_docs", query=f"{QUERY}|executed_queries",
          doc_id="document_id", title="semantic_identifier", text="content|blurb"),
    Shape("Kernel Memory", "kernel_memory.json", "results|relevant_sources", answer="text",
          doc_id="document_id", title="source_name", url="source_url",
          sign="results.partitions|relevant_sources.partitions"),
    Shape(mark("JSON with a list for each question"), "lists.jsonl", USUAL_ITEMS),
)  # fmt: skip
"""Every shape, the usual one last: the first that fits an object reads its file."""
USUAL = SHAPES[-1]
ENVELOPES = (
    "prediction|response|result|results|output|outputs|data|body|retrieved|retrieval|search|"
    "search_results|web"
)
"""Where the answer of an engine may stand beside its question."""
_PATHS = (*QUESTION_ROLES, *ITEM_ROLES, "items", "sign")
_OTHER_NAMES = "error|index|corpus_id|type|role|state|status"
NAMES = frozenset(
    name
    for shape in SHAPES
    for paths in (*(getattr(shape, field, "") for field in _PATHS), ENVELOPES, _OTHER_NAMES)
    for path in paths.split("|")
    for name in path.split(".")
) | {*WRAPPERS}
"""The names in the paths of all shapes."""
MAPPED = mark("JSON by the paths that were chosen")


def mapped(columns: Columns) -> Shape | None:
    """The shape that a person described by paths; ``None`` where they name no list."""
    if "items" not in columns:
        return None
    names = {role: path for role, path in columns.items() if role in Shape.__struct_fields__}
    unstated = {role: "" for role in (*QUESTION_ROLES, "rank", "grade") if hasattr(Shape, role)}
    return Shape(**{"name": MAPPED, "example": "", **unstated, **names})  # type: ignore[arg-type]
